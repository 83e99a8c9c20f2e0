import Button from "@cloudscape-design/components/button";
import Header from "@cloudscape-design/components/header";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import Table from "@cloudscape-design/components/table";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Schemas } from "../../../api/client";
import { simulatedFaults } from "../../../api/operator";
import { Choice } from "../../../components/Choice";
import { Empty } from "../../../components/Empty";
import { Failure } from "../../../components/Failure";
import { Pager } from "../../../components/Pager";
import { To } from "../../../components/To";
import { later } from "../../../components/later";
import { useCursor } from "../../../components/useCursor";
import { useFormat, useStrings } from "../../../i18n";
import { useTroubleStrings } from "../../../i18n/trouble";
import { useTrouble } from "./useTrouble";

const BreakDialog = later(async () => (await import("./BreakDialog")).BreakDialog, null);

type Fault = Schemas["SimulatedFault"];

const KIND = { requested: "in-progress", in_force: "error", ending: "in-progress", ended: "success", failed: "warning" } as const;
const ENDED = { open: false, ended: true, all: undefined };

/** What the simulated site was asked to break, and whether it did; oldest first. */
export function TroubleTab({ region }: { region: string }) {
  const { common } = useStrings();
  const s = useTroubleStrings();
  const f = useFormat();
  const [shown, setShown] = useState<keyof typeof ENDED>("open");
  const pages = useCursor();
  const { data, error, isPending, refetch } = useQuery(simulatedFaults({ region, ended: ENDED[shown], limit: 50, cursor: pages.cursor }));
  const [breaking, setBreaking] = useState(false);
  const { repaired } = useTrouble();
  const name = (each: Fault) => (each.kind === "controllers" ? s.ofAll : each.name);
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  return (
    <>
      <Failure error={repaired.error} />
      <Table
        variant="container"
        wrapLines
        trackBy="id"
        items={data?.items ?? []}
        loading={isPending}
        loadingText={common.loading}
        ariaLabels={{ tableLabel: s.title }}
        header={<Header variant="h2" description={s.text} actions={<Button onClick={() => setBreaking(true)}>{s.breakIt}</Button>}>{s.title}</Header>}
        filter={<Choice label={common.shown} value={shown} options={s.shown} onChange={(value) => { setShown(value); pages.reset(); }} />}
        columnDefinitions={[
          {
            id: "name", header: s.object, isRowHeader: true,
            cell: (each) => (each.kind === "machine" || each.kind === "link" ? <To href={`/operator/machines/${each.name}`}>{each.name}</To> : name(each)),
          },
          { id: "kind", header: s.what, cell: (each) => (each.link ? `${s.kinds[each.kind]} (${s.links[each.link]})` : s.kinds[each.kind]) },
          { id: "state", header: common.state, minWidth: 150, cell: (each) => <StatusIndicator type={KIND[each.state]}>{s.states[each.state]}</StatusIndicator> },
          { id: "since", header: s.since, cell: (each) => f.second(each.state_entered_at) },
          { id: "detail", header: s.detail, cell: (each) => each.detail ?? common.none },
          {
            id: "do", header: common.actions,
            cell: (each) => ["requested", "in_force"].includes(each.state) && (
              <Button variant="inline-link" ariaLabel={s.repairOf(name(each))} onClick={() => repaired.mutate(each)}>{s.repair}</Button>
            ),
          },
        ]}
        pagination={<Pager pages={pages} next={data?.next_cursor} />}
        empty={<Empty title={s.none} text={s.noneText} />}
      />
      {breaking && <BreakDialog region={region} onClose={() => setBreaking(false)} />}
    </>
  );
}
