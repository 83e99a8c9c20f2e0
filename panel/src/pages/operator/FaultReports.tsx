import Button from "@cloudscape-design/components/button";
import Box from "@cloudscape-design/components/box";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Table from "@cloudscape-design/components/table";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Schemas } from "../../api/client";
import { allFaultReports } from "../../api/operator";
import { useMay } from "../../app/Project";
import { Choice } from "../../components/Choice";
import { Empty } from "../../components/Empty";
import { FailedPage } from "../../components/Failure";
import { Pager } from "../../components/Pager";
import { To } from "../../components/To";
import { later } from "../../components/later";
import { useCursor } from "../../components/useCursor";
import { useFormat, useStrings } from "../../i18n";
import { useOperatedStrings } from "../../i18n/operated";
import { useOperatorStrings } from "../../i18n/operator";
import { useRepairStrings } from "../../i18n/repairs";
import { ReportState } from "../cluster/repairs/FaultReports";
import type { Answer } from "./AnswerFault";

const AnswerFault = later(async () => (await import("./AnswerFault")).AnswerFault, null);

type Report = Schemas["OperatorFaultReport"];
type Shown = "all" | Report["state"];

/** For operators: what customers report, oldest first, and the answers. */
export function FaultReports() {
  const { common } = useStrings();
  const o = useOperatorStrings();
  const s = useOperatedStrings();
  const repairs = useRepairStrings();
  const f = useFormat();
  const may = useMay("platform:read");
  const mayAnswer = useMay("platform:write");
  const [shown, setShown] = useState<Shown>("open");
  const pages = useCursor();
  const query = { state: shown === "all" ? undefined : shown, limit: 50, cursor: pages.cursor };
  const { data, error, isPending, refetch } = useQuery({ ...allFaultReports(query), enabled: may });
  const [asked, setAsked] = useState<{ answer: Answer; report: Report }>();
  if (!may) return <Empty page title={repairs.reports} text={common.notAllowed} />;
  if (error && !data) return <FailedPage title={repairs.reports} error={error} retry={() => void refetch()} />;
  const answers = (report: Report) => report.state === "open" && (
    <SpaceBetween direction="horizontal" size="xs">
      {(["confirm", "dismiss"] as const).map((answer) => (
        <Button key={answer} variant="inline-link" ariaLabel={s.act(s[answer], report.name)} onClick={() => setAsked({ answer, report })}>{s[answer]}</Button>
      ))}
    </SpaceBetween>
  );
  return (
    <>
      <Table
        variant="full-page"
        wrapLines
        trackBy="id"
        items={data?.items ?? []}
        loading={isPending}
        loadingText={common.loading}
        ariaLabels={{ tableLabel: repairs.reports }}
        header={<Header variant="awsui-h1-sticky" description={s.faultsText}>{repairs.reports}</Header>}
        filter={<Choice label={common.shown} value={shown} options={{ ...repairs.states, all: common.all }} onChange={(value) => { setShown(value); pages.reset(); }} />}
        columnDefinitions={[
          {
            id: "hardware", header: s.hardware, isRowHeader: true,
            cell: (each) => (
              <>
                {each.kind === "machine" ? <To href={`/operator/machines/${each.hardware}`}>{each.hardware}</To> : `${each.name}, ${each.hardware}`}
                {!each.held && <Box variant="small" display="block">{s.released}</Box>}
              </>
            ),
          },
          { id: "holder", header: o.holder, cell: (each) => o.holderOf(each.cluster_name, each.project) },
          { id: "state", header: common.state, minWidth: 140, cell: (each) => <ReportState state={each.state} /> },
          { id: "category", header: repairs.category, cell: (each) => repairs.categories[each.category] },
          { id: "description", header: repairs.description, minWidth: 200, cell: (each) => each.description },
          { id: "answer", header: s.answer, minWidth: 160, cell: (each) => each.answer ?? common.none },
          { id: "created", header: repairs.reported, cell: (each) => f.moment(each.created_at) },
          ...(mayAnswer ? [{ id: "do", header: common.actions, cell: answers }] : []),
        ]}
        pagination={<Pager pages={pages} next={data?.next_cursor} />}
        empty={<Empty title={s.noFaults} text={s.noFaultsText} />}
      />
      {asked && <AnswerFault {...asked} onClose={() => setAsked(undefined)} />}
    </>
  );
}
