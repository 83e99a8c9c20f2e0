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
import { byText, LocalTable } from "../components/LocalTable";
import { later } from "../components/later";
import { useFormat, useStrings } from "../i18n";
import { QuotaRequests } from "./quotas/QuotaRequests";

const AskForQuota = later(async () => (await import("./quotas/AskForQuota")).AskForQuota, null);

/** How many machines, GiB of volumes, and addresses the project may hold, and what it asked for. */
export function Quotas() {
  const { quotas: s } = useStrings();
  const f = useFormat();
  const words: Record<string, string> = { gib: s.volumes, address: s.addresses };
  const may = useMay("cluster:write");
  const { data, error, refetch } = useQuery(quotas(useProject()));
  const [asking, setAsking] = useState(false);
  if (error && !data) return <FailedPage title={s.title} error={error} retry={() => void refetch()} />;
  const ask = may && <Button variant="primary" onClick={() => setAsking(true)}>{s.ask}</Button>;
  return (
    <ContentLayout header={<Header variant="h1" description={s.description} actions={ask}>{s.title}</Header>}>
      <SpaceBetween size="l">
        <LocalTable
          variant="container"
          title={s.title}
          items={data?.items}
          textOf={(each) => `${each.region} ${words[each.unit] ?? each.machine_type}`}
          find={s.find}
          none={<Empty title={s.noQuotas} text={s.noQuotasText} />}
          header={<Header variant="h2">{s.limits}</Header>}
          columnDefinitions={[
            { id: "region", header: s.region, isRowHeader: true, sortingField: "region", cell: (each) => each.region },
            { id: "type", header: s.type, sortingComparator: byText((each) => each.machine_type), cell: (each) => words[each.unit] ?? each.machine_type },
            { id: "used", header: s.used, sortingField: "used", cell: (each) => f.number(each.used) },
            { id: "limit", header: s.limit, sortingField: "limit", cell: (each) => f.number(each.limit) },
          ]}
        />
        <QuotaRequests />
      </SpaceBetween>
      {asking && <AskForQuota quotas={data?.items ?? []} onClose={() => setAsking(false)} />}
    </ContentLayout>
  );
}
