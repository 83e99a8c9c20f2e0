import Button from "@cloudscape-design/components/button";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Table from "@cloudscape-design/components/table";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Schemas } from "../../api/client";
import { openQuotaRequests } from "../../api/operator";
import { useMay } from "../../app/Project";
import { Empty } from "../../components/Empty";
import { FailedPage } from "../../components/Failure";
import { Pager } from "../../components/Pager";
import { later } from "../../components/later";
import { useCursor } from "../../components/useCursor";
import { useQuotaWords } from "../../components/useQuotaWords";
import { useFormat, useStrings } from "../../i18n";
import { useOperatorStrings } from "../../i18n/operator";
import type { Decision } from "./QuotaDecision";

const QuotaDecision = later(async () => (await import("./QuotaDecision")).QuotaDecision, null);

type Request = Schemas["OperatorQuotaRequest"];

/** For operators: requests for higher quotas that wait for a decision, oldest first. */
export function QuotaRequests() {
  const { common, quotas: s } = useStrings();
  const operator = useOperatorStrings();
  const f = useFormat();
  const words = useQuotaWords();
  const may = useMay("platform:read");
  const mayDecide = useMay("platform:write");
  const pages = useCursor();
  const [deciding, setDeciding] = useState<{ decision: Decision; request: Request }>();
  const { data, error, isPending, refetch } = useQuery({ ...openQuotaRequests({ limit: 50, cursor: pages.cursor }), enabled: may });
  if (!may) return <Empty page title={s.requests} text={common.notAllowed} />;
  if (error && !data) return <FailedPage title={s.requests} error={error} retry={() => void refetch()} />;
  const decide = (request: Request) => (
    <SpaceBetween direction="horizontal" size="xs">
      {(["grant", "decline"] as const).map((decision) => (
        <Button key={decision} variant="inline-link" ariaLabel={`${s.decide[decision]}: ${request.project}`} onClick={() => setDeciding({ decision, request })}>
          {s.decide[decision]}
        </Button>
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
        ariaLabels={{ tableLabel: s.requests }}
        header={<Header variant="awsui-h1-sticky" description={s.waiting}>{s.requests}</Header>}
        columnDefinitions={[
          { id: "project", header: operator.project, isRowHeader: true, cell: (each) => each.project },
          { id: "what", header: s.wanted, cell: (each) => words(each) },
          { id: "used", header: s.used, cell: (each) => s.usedOf(f.number(each.used), f.number(each.present_limit)) },
          { id: "reason", header: s.reason, cell: (each) => each.reason },
          { id: "created", header: s.asked, cell: (each) => f.moment(each.created_at) },
          ...(mayDecide ? [{ id: "do", header: common.actions, cell: decide }] : []),
        ]}
        pagination={<Pager pages={pages} next={data?.next_cursor} />}
        empty={<Empty title={s.nothingWaits} text={s.nothingWaitsText} />}
      />
      {deciding && <QuotaDecision {...deciding} onClose={() => setDeciding(undefined)} />}
    </>
  );
}
