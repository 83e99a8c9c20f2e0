import Button from "@cloudscape-design/components/button";
import ButtonDropdown from "@cloudscape-design/components/button-dropdown";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Table from "@cloudscape-design/components/table";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useParams } from "react-router";
import { hardwareDetail, hardwareHistory, ORDERS_OF, type HardwareAction, type HardwareDetail, type HardwareKind } from "../../api/operator";
import type { Schemas } from "../../api/client";
import { useMay } from "../../app/Project";
import { Empty } from "../../components/Empty";
import { FailedPage, Failure } from "../../components/Failure";
import { Pager } from "../../components/Pager";
import { Health } from "../../components/Health";
import { Loading } from "../../components/Loading";
import { later } from "../../components/later";
import { valueOf } from "../../components/racks/modes";
import { To } from "../../components/To";
import { useCursor } from "../../components/useCursor";
import { useFormat, useStrings } from "../../i18n";
import { useOperatorStrings } from "../../i18n/operator";

const TroubleMenu = later(async () => (await import("./trouble/TroubleMenu")).TroubleMenu, null);
const HardwareActionModal = later(async () => (await import("./HardwareActionModal")).HardwareActionModal, null);

export const MachinePage = () => <HardwarePage kind="machines" />;
export const HostPage = () => <HardwarePage kind="hosts" />;

/** For operators: a machine or a host, what is wrong with it, and its history. */
function HardwarePage({ kind }: { kind: HardwareKind }) {
  const { common } = useStrings();
  const s = useOperatorStrings();
  const { name = "" } = useParams();
  const may = useMay("platform:read");
  const mayOrder = useMay("platform:write");
  const [action, setAction] = useState<HardwareAction>();
  const { data, error, refetch } = useQuery({ ...hardwareDetail(kind, name), enabled: may });
  if (!may) return <Empty page title={name} text={common.notAllowed} />;
  if (error && !data) return <FailedPage title={name} error={error} retry={() => void refetch()} />;
  if (!data) return <Loading />;
  return (
    <SpaceBetween size="l">
      <Header
        variant="h1"
        description={`${"slot" in data ? `${data.machine_type}, ${s.placeOf(data.rack, data.pod, data.slot)}` : s.hostAt(data.address)}. ${s.readAgain}`}
        actions={
          <SpaceBetween direction="horizontal" size="xs">
            <Button iconName="refresh" ariaLabel={common.retry} onClick={() => void refetch()} />
            {kind === "machines" && <TroubleMenu region={data.region} machine={name} />}
            {mayOrder && (
              <ButtonDropdown items={ORDERS_OF[kind].map((id) => ({ id, text: s.orders[id] }))} onItemClick={({ detail }) => setAction(detail.id as HardwareAction)}>
                {common.actions}
              </ButtonDropdown>
            )}
          </SpaceBetween>
        }
      >
        {name}
      </Header>
      <Facts kind={kind} item={data} />
      <Reports reports={[...data.reports, ...data.past_reports]} />
      <History kind={kind} name={name} />
      {action && <HardwareActionModal kind={kind} action={action} items={[data]} onClose={() => setAction(undefined)} />}
    </SpaceBetween>
  );
}

function Facts({ kind, item }: { kind: HardwareKind; item: HardwareDetail }) {
  const { common } = useStrings();
  const s = useOperatorStrings();
  const f = useFormat();
  return (
    <Container header={<Header variant="h2">{s.of[kind].one}</Header>}>
      <KeyValuePairs
        columns={4}
        items={[
          { label: s.health, value: <Health health={item.health} /> },
          { label: s.use, value: s.values[valueOf("use", item)] },
          { label: s.maintenance, value: s.values[valueOf("maintenance", item)] },
          { label: s.observed, value: item.observed_at ? f.moment(item.observed_at) : common.none },
          { label: s.holder, value: item.holder ? s.heldBy(item.holder) : common.none },
          { label: s.serial, value: item.serial ?? common.none },
          { label: s.model, value: item.model ?? common.none },
          { label: s.firmware, value: item.firmware ?? common.none },
          ...("slot" in item
            ? [{ label: "BMC", value: item.bmc }, { label: s.gateway, value: item.gateway ?? common.none }, { label: "RNIC", value: item.rnic }]
            : [{ label: s.machine, value: item.machine ? <To href={`/operator/machines/${item.machine}`}>{item.machine}</To> : common.none }]),
        ]}
      />
    </Container>
  );
}

function Reports({ reports }: { reports: Schemas["HealthReport"][] }) {
  const s = useOperatorStrings();
  const f = useFormat();
  return (
    <Table
      header={<Header variant="h2" counter={`(${reports.length})`}>{s.reports}</Header>}
      items={reports}
      wrapLines
      trackBy="id"
      ariaLabels={{ tableLabel: s.reports }}
      columnDefinitions={[
        { id: "code", header: s.code, isRowHeader: true, cell: (each) => each.code },
        { id: "state", header: s.reportState, cell: (each) => s.reportStates[each.state] },
        { id: "source", header: s.source, cell: (each) => each.source },
        { id: "since", header: s.since, cell: (each) => f.moment(each.first_seen_at) },
        { id: "detail", header: s.detail, cell: (each) => each.detail },
      ]}
      empty={<Empty title={s.noReports} text={s.noReportsText} />}
    />
  );
}

function History({ kind, name }: { kind: HardwareKind; name: string }) {
  const { common } = useStrings();
  const s = useOperatorStrings();
  const f = useFormat();
  const pages = useCursor();
  const { data, error, isPending, refetch } = useQuery(hardwareHistory(kind, name, { limit: 20, cursor: pages.cursor }));
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  return (
    <Table
      header={<Header variant="h2">{s.history}</Header>}
      items={data?.items ?? []}
      loading={isPending}
      loadingText={common.loading}
      wrapLines
      ariaLabels={{ tableLabel: s.history }}
      columnDefinitions={[
        { id: "at", header: s.at, cell: (each) => f.moment(each.at) },
        { id: "type", header: s.what, isRowHeader: true, cell: (each) => each.type },
        { id: "project", header: s.project, cell: (each) => each.project ?? common.none },
        { id: "detail", header: s.detail, cell: (each) => [each.code, each.detail].filter(Boolean).join(": ") || common.none },
      ]}
      pagination={<Pager pages={pages} next={data?.next_cursor} />}
      empty={<Empty title={s.noHistory} text={s.noHistoryText} />}
    />
  );
}
