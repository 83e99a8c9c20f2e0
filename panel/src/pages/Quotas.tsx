import Button from "@cloudscape-design/components/button";
import ContentLayout from "@cloudscape-design/components/content-layout";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { quotas } from "../api/queries";
import { useMay, useProject } from "../app/Project";
import { Empty } from "../components/Empty";
import { FailedPage } from "../components/Failure";
import { later } from "../components/later";
import { ListTable } from "../components/ListTable";
import { QuotaFilters, quotaKey, useQuotaView } from "../components/QuotaFilters";
import { useTypeWords } from "../components/useQuotaWords";
import { useFormat, useStrings } from "../i18n";
import { QuotaRequests } from "./quotas/QuotaRequests";

const AskForQuota = later(async () => (await import("./quotas/AskForQuota")).AskForQuota, null);

/** How many machines, GiB of volumes, and addresses the project may hold, and what it asked for. */
export function Quotas() {
  const { quotas: s } = useStrings();
  const f = useFormat();
  const words = useTypeWords();
  const may = useMay("cluster:write");
  const project = useProject();
  const { view, query } = useQuotaView("limit-");
  const { data, error, refetch } = useQuery(quotas(project, query));
  const all = useQuery(quotas(project)).data?.items;
  const [asking, setAsking] = useState(false);
  if (error && !data) return <FailedPage title={s.title} error={error} retry={() => void refetch()} />;
  const ask = may && <Button variant="primary" onClick={() => setAsking(true)}>{s.ask}</Button>;
  return (
    <ContentLayout header={<Header variant="h1" description={s.description} actions={ask}>{s.title}</Header>}>
      <SpaceBetween size="l">
        <ListTable
          variant="container"
          title={s.title}
          view={view}
          page={data}
          trackBy={quotaKey}
          filters={<QuotaFilters view={view} quotas={all} />}
          none={<Empty title={s.noQuotas} text={s.noQuotasText} />}
          header={<Header variant="h2">{s.limits}</Header>}
          columnDefinitions={[
            { id: "region", header: s.region, isRowHeader: true, sortingField: "region", cell: (each) => each.region },
            { id: "type", header: s.type, sortingField: "machine_type", cell: (each) => words[each.machine_type] ?? each.machine_type },
            { id: "used", header: s.used, sortingField: "used", cell: (each) => f.number(each.used) },
            { id: "limit", header: s.limit, sortingField: "limit", cell: (each) => f.number(each.limit) },
          ]}
        />
        <QuotaRequests />
      </SpaceBetween>
      {asking && <AskForQuota quotas={all ?? []} onClose={() => setAsking(false)} />}
    </ContentLayout>
  );
}
