import Button from "@cloudscape-design/components/button";
import ContentLayout from "@cloudscape-design/components/content-layout";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Table from "@cloudscape-design/components/table";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { quotas } from "../api/queries";
import { useMay, useProject } from "../app/Project";
import { Empty } from "../components/Empty";
import { FailedPage } from "../components/Failure";
import { later } from "../components/later";
import { useFormat, useStrings } from "../i18n";
import { QuotaRequests } from "./quotas/QuotaRequests";

const AskForQuota = later(async () => (await import("./quotas/AskForQuota")).AskForQuota, null);

/** How many machines the project may hold, and what it asked for. */
export function Quotas() {
  const { common, quotas: s } = useStrings();
  const f = useFormat();
  const may = useMay("cluster:write");
  const { data, error, isPending, refetch } = useQuery(quotas(useProject()));
  const [asking, setAsking] = useState(false);
  if (error && !data) return <FailedPage title={s.title} error={error} retry={() => void refetch()} />;
  const ask = may && <Button variant="primary" onClick={() => setAsking(true)}>{s.ask}</Button>;
  return (
    <ContentLayout header={<Header variant="h1" description={s.description} actions={ask}>{s.title}</Header>}>
      <SpaceBetween size="l">
        <Table
          variant="container"
          items={data?.items ?? []}
          loading={isPending}
          loadingText={common.loading}
          ariaLabels={{ tableLabel: s.title }}
          header={<Header variant="h2">{s.limits}</Header>}
          columnDefinitions={[
            { id: "region", header: s.region, isRowHeader: true, cell: (each) => each.region },
            { id: "type", header: s.machineType, cell: (each) => each.machine_type },
            { id: "used", header: s.used, cell: (each) => f.number(each.used) },
            { id: "limit", header: s.limit, cell: (each) => f.number(each.limit) },
          ]}
          empty={<Empty title={s.noQuotas} text={s.noQuotasText} />}
        />
        <QuotaRequests />
      </SpaceBetween>
      {asking && <AskForQuota quotas={data?.items ?? []} onClose={() => setAsking(false)} />}
    </ContentLayout>
  );
}
