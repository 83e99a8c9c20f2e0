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
import { HARDWARE_ACTIONS, hardwareMachine, machineHistory, type HardwareAction } from "../../api/operator";
import type { Schemas } from "../../api/client";
import { useMay } from "../../app/Project";
import { Empty } from "../../components/Empty";
import { FailedPage, Failure } from "../../components/Failure";
import { Pager } from "../../components/Pager";
import { Health } from "../../components/Health";
import { Loading } from "../../components/Loading";
import { later } from "../../components/later";
import { valueOf } from "../../components/racks/modes";
import { useCursor } from "../../components/useCursor";
import { useFormat, useStrings } from "../../i18n";
import { useOperatorStrings } from "../../i18n/operator";

const TroubleMenu = later(async () => (await import("./trouble/TroubleMenu")).TroubleMenu, null);
const HardwareActionModal = later(async () => (await import("./HardwareActionModal")).HardwareActionModal, null);

type Detail = Schemas["HardwareMachineDetail"];

/** For operators: a machine, what is wrong with it, and its history. */
export function MachinePage() {
  const { common } = useStrings();
  const s = useOperatorStrings();
  const { machine: name = "" } = useParams();
  const may = useMay("platform:read");
  const mayOrder = useMay("platform:write");
  const [action, setAction] = useState<HardwareAction>();
  const { data, error, refetch } = useQuery({ ...hardwareMachine(name), enabled: may });
  if (!may) return <Empty page title={name} text={common.notAllowed} />;
  if (error && !data) return <FailedPage title={name} error={error} retry={() => void refetch()} />;
  if (!data) return <Loading />;
  return (
    <SpaceBetween size="l">
      <Header
        variant="h1"
        description={`${data.machine_type}, ${s.placeOf(data.rack, data.pod, data.slot)}`}
        actions={
          <SpaceBetween direction="horizontal" size="xs">
            <Button iconName="refresh" ariaLabel={common.retry} onClick={() => void refetch()} />
            <TroubleMenu region={data.region} machine={name} />
            {mayOrder && (
              <ButtonDropdown items={HARDWARE_ACTIONS.map((id) => ({ id, text: s.orders[id] }))} onItemClick={({ detail }) => setAction(detail.id as HardwareAction)}>
                {common.actions}
              </ButtonDropdown>
            )}
          </SpaceBetween>
        }
      >
        {name}
      </Header>
      <Facts machine={data} />
      <Reports reports={[...data.reports, ...data.past_reports]} />
      <History machine={name} />
      {action && <HardwareActionModal action={action} machines={[data]} onClose={() => setAction(undefined)} />}
    </SpaceBetween>
  );
}

function Facts({ machine }: { machine: Detail }) {
  const { common } = useStrings();
  const s = useOperatorStrings();
  const f = useFormat();
  return (
    <Container header={<Header variant="h2">{s.facts}</Header>}>
      <KeyValuePairs
        columns={4}
        items={[
          { label: s.health, value: <Health health={machine.health} /> },
          { label: s.use, value: s.values[valueOf("use", machine)] },
          { label: s.maintenance, value: s.values[valueOf("maintenance", machine)] },
          { label: s.observed, value: machine.observed_at ? f.moment(machine.observed_at) : common.none },
          { label: s.holder, value: machine.holder ? s.holderOf(machine.holder.name, machine.holder.project) : common.none },
          { label: s.serial, value: machine.serial ?? common.none },
          { label: s.model, value: machine.model ?? common.none },
          { label: s.firmware, value: machine.firmware ?? common.none },
          { label: "BMC", value: machine.bmc },
          { label: s.gateway, value: machine.gateway ?? common.none },
          { label: "RNIC", value: machine.rnic },
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

function History({ machine }: { machine: string }) {
  const { common } = useStrings();
  const s = useOperatorStrings();
  const f = useFormat();
  const pages = useCursor();
  const { data, error, isPending, refetch } = useQuery(machineHistory(machine, { limit: 20, cursor: pages.cursor }));
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
