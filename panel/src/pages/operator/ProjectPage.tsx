import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import ContentLayout from "@cloudscape-design/components/content-layout";
import Header from "@cloudscape-design/components/header";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useParams } from "react-router";
import type { Schemas } from "../../api/client";
import { oneProject, payerOf, quotasOf } from "../../api/tenants";
import { useMay } from "../../app/Project";
import { Empty } from "../../components/Empty";
import { FailedPage, Failure } from "../../components/Failure";
import { later } from "../../components/later";
import { Loading } from "../../components/Loading";
import { ListTable } from "../../components/ListTable";
import { QuotaFilters, quotaKey, useQuotaView } from "../../components/QuotaFilters";
import { To } from "../../components/To";
import { useTypeWords } from "../../components/useQuotaWords";
import { useFormat, useStrings } from "../../i18n";
import { useTenantStrings } from "../../i18n/tenants";

const ChangePayer = later(async () => (await import("./tenants/ChangePayer")).ChangePayer, null);
const SetLimit = later(async () => (await import("./tenants/SetLimit")).SetLimit, null);

/** For operators: a project, who pays for it, and its quotas. */
export function ProjectPage() {
  const { common } = useStrings();
  const s = useTenantStrings();
  const f = useFormat();
  const { slug = "" } = useParams();
  const may = useMay("platform:read");
  const { data, error, refetch } = useQuery({ ...oneProject(slug), enabled: may });
  if (!may) return <Empty page title={slug} text={common.notAllowed} />;
  if (error && !data) return <FailedPage title={slug} error={error} retry={() => void refetch()} />;
  if (!data) return <Loading />;
  return (
    <ContentLayout
      header={<Header variant="h1" description={s.projectText}>{data.name}</Header>}
      breadcrumbs={<To href="/operator/projects">{s.projects}</To>}
    >
      <SpaceBetween size="l">
        <Container>
          <KeyValuePairs
            columns={3}
            items={[
              { label: s.slug, value: data.slug },
              { label: s.number, value: data.number },
              { label: common.created, value: f.moment(data.created_at) },
            ]}
          />
        </Container>
        <Payer project={data} />
        <Quotas project={slug} />
      </SpaceBetween>
    </ContentLayout>
  );
}

function Payer({ project }: { project: Schemas["Project"] }) {
  const { common } = useStrings();
  const s = useTenantStrings();
  const f = useFormat();
  const may = useMay("account:write");
  const { data, error, refetch } = useQuery(payerOf(project.slug));
  const [changing, setChanging] = useState(false);
  if (!data) return error ? <Failure error={error} retry={() => void refetch()} /> : <Loading />;
  const change = may && <Button onClick={() => setChanging(true)}>{s.changePayer}</Button>;
  return (
    <>
      <Container header={<Header variant="h2" description={s.payerText} actions={change}>{s.payer}</Header>}>
        <KeyValuePairs
          columns={4}
          items={[
            { label: common.name, value: data.id === project.id ? `${data.name} (${s.ownPayer})` : data.name },
            { label: s.currency, value: data.currency },
            { label: s.since, value: f.moment(data.created_at) },
          ]}
        />
      </Container>
      {changing && <ChangePayer project={project.slug} present={data.id} onClose={() => setChanging(false)} />}
    </>
  );
}

function Quotas({ project }: { project: string }) {
  const { common } = useStrings();
  const s = useTenantStrings();
  const f = useFormat();
  const may = useMay("platform:write");
  const words = useTypeWords();
  const { view, query } = useQuotaView();
  const { data, error, refetch } = useQuery(quotasOf(project, query));
  const all = useQuery(quotasOf(project)).data;
  const [setting, setSetting] = useState<{ quota?: Schemas["Quota"] }>();
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  const set = (quota: Schemas["Quota"]) => (
    <Button variant="inline-link" ariaLabel={s.setLimitOf(quota.machine_type, quota.region)} onClick={() => setSetting({ quota })}>{s.setLimit}</Button>
  );
  return (
    <>
      <ListTable
        variant="container"
        title={s.quotas}
        view={view}
        page={data}
        trackBy={quotaKey}
        filters={<QuotaFilters view={view} quotas={all?.items} />}
        none={<Empty title={s.noQuotas} text={s.noQuotasText} />}
        header={<Header variant="h2" actions={may && all && <Button onClick={() => setSetting({})}>{s.setLimit}</Button>}>{s.quotas}</Header>}
        columnDefinitions={[
          { id: "region", header: s.region, isRowHeader: true, sortingField: "region", cell: (each) => each.region },
          { id: "type", header: s.machineType, sortingField: "machine_type", cell: (each) => words[each.machine_type] ?? each.machine_type },
          { id: "used", header: s.used, sortingField: "used", cell: (each) => f.number(each.used) },
          { id: "limit", header: s.limit, sortingField: "limit", cell: (each) => f.number(each.limit) },
          ...(may ? [{ id: "do", header: common.actions, cell: set }] : []),
        ]}
      />
      {setting && all && <SetLimit project={project} seen={all} quota={setting.quota} onClose={() => setSetting(undefined)} />}
    </>
  );
}
