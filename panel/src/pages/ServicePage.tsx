import Alert from "@cloudscape-design/components/alert";
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import ContentLayout from "@cloudscape-design/components/content-layout";
import Header from "@cloudscape-design/components/header";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useParams } from "react-router";
import { cluster as clusterQuery, type Cluster } from "../api/queries";
import { ended, proxyAddress, rollBackService, serviceLog, serviceQuery, stopService, type Service } from "../api/services";
import { useFlash } from "../app/Flashes";
import { useGo } from "../app/place";
import { useMay, useProject } from "../app/Project";
import { Consequences } from "../components/Consequences";
import { Copyable } from "../components/Copyable";
import { Dialog } from "../components/Dialog";
import { FailedPage } from "../components/Failure";
import { later } from "../components/later";
import { Loading } from "../components/Loading";
import { Output } from "../components/Output";
import { ServiceHealth } from "../components/ServiceHealth";
import { ServiceState } from "../components/ServiceState";
import { To } from "../components/To";
import { useChange } from "../components/useChange";
import { useServerName } from "../components/useServerName";
import { lineOf } from "../components/words";
import { useFormat, useStrings } from "../i18n";
import { useServiceStrings } from "../i18n/services";

const Deploy = later(async () => (await import("./services/Deploy")).Deploy, null);
const Died = later(async () => (await import("./services/Died")).Died, null);
const RequestCharts = later(async () => (await import("./services/RequestCharts")).RequestCharts);

/** A service: its state and why, how its program is reached, and what that writes. */
export function ServicePage() {
  const names = useStrings().cluster;
  const s = useServiceStrings();
  const { id = "", service: reference = "" } = useParams();
  const project = useProject();
  const { data: service, error, refetch } = useQuery(serviceQuery(project, id, reference));
  const cluster = useQuery(clusterQuery(project, id)).data;
  const may = useMay("cluster:write");
  const flash = useFlash();
  const go = useGo();
  const [asking, setAsking] = useState<"deploy" | "rollback" | "stop" | null>(null);
  if (!service) return error ? <FailedPage title={s.title} error={error} retry={() => void refetch()} /> : <Loading />;
  const close = () => setAsking(null);
  const released = (shown?: Service) => {
    close();
    if (!shown) return;
    flash({ type: "success", content: s.deployed(service.name) });
    go(`/clusters/${id}/services/${service.name}`, { replace: true }); // by its name the release that follows is found
  };
  const actions = may && (
    <SpaceBetween direction="horizontal" size="xs">
      {!ended(service) && <Button disabled={service.stop_requested_at !== null} onClick={() => setAsking("stop")}>{s.stop}</Button>}
      {cluster && cluster.state !== "deleted" && <Button onClick={() => setAsking("rollback")}>{s.rollback}</Button>}
      {cluster && cluster.state !== "deleted" && <Button variant="primary" onClick={() => setAsking("deploy")}>{s.deploy}</Button>}
    </SpaceBetween>
  );
  return (
    <ContentLayout
      header={<Header variant="h1" actions={actions}>{s.titled(service.name)}</Header>}
      breadcrumbs={<To href={`/clusters/${id}?tab=services`}>{cluster?.name ?? names.overview}</To>}
    >
      <SpaceBetween size="l">
        {service.successor && <Alert>{s.followed}</Alert>}
        {(service.state === "failed" || (!ended(service) && service.failures > 0)) && <Died service={service} />}
        <Facts service={service} cluster={cluster} />
        {!ended(service) && cluster && <Requests service={service} cluster={cluster} />}
        <RequestCharts service={service} />
        <Output log={serviceLog(project, service.cluster, service.id)} texts={s} cut={s.outputCut(service.name)} />
      </SpaceBetween>
      {asking === "stop" && <Stop service={service} onClose={close} />}
      {asking === "rollback" && <RollBack service={service} onClose={released} />}
      {asking === "deploy" && cluster && <Deploy service={service} cluster={cluster} onClose={released} />}
    </ContentLayout>
  );
}

function Facts({ service, cluster: owner }: { service: Service; cluster: Cluster | undefined }) {
  const { cluster, common } = useStrings();
  const s = useServiceStrings();
  const f = useFormat();
  const serverName = useServerName(owner);
  const when = (moment: string | null) => (moment ? f.second(moment) : common.none);
  const over = ended(service);
  return (
    <Container header={<Header variant="h2">{cluster.overview}</Header>}>
      <KeyValuePairs
        columns={4}
        items={[
          { label: common.state, value: <ServiceState service={service} /> },
          ...(service.state_reason ? [{ label: s.why, value: service.state_reason }] : []),
          ...(service.ended_by ? [{ label: s.endedBy, value: s.endings[service.ended_by] }] : []),
          { label: s.command, value: <Copyable text={lineOf(service.command)} label={s.command} command /> },
          ...(service.image ? [{ label: s.image, value: <Copyable text={service.image} label={s.image} command /> }] : []),
          { label: s.directory, value: service.directory ?? (service.image ? s.ofTheImage : s.home) },
          { label: s.environment, value: service.environment.join(", ") || common.none },
          { label: s.server, value: serverName(service.poplar_server) },
          { label: s.port, value: service.port },
          { label: s.starts, value: f.number(service.attempt) },
          ...(service.health ? [{ label: s.health, value: <ServiceHealth health={service.health} /> }] : []),
          { label: s.failures, value: s.failuresOf(f.number(service.failures), f.number(service.max_restarts)) },
          ...(service.exit_status === null ? [] : [{ label: s.exitStatus, value: f.number(service.exit_status) }]),
          { label: common.created, value: f.second(service.created_at) },
          ...(service.requested_by.name ? [{ label: s.by, value: service.requested_by.name }] : []),
          ...(service.state === "starting" ? [{ label: s.nextStart, value: f.second(service.next_start_at) }] : [{ label: s.started, value: when(service.started_at) }]),
          ...(over ? [{ label: s.ended, value: when(service.ended_at) }] : [{ label: s.observed, value: when(service.observed_at) }]),
        ]}
      />
    </Container>
  );
}

/** How a program of one's own, or a browser, reaches the service's program. */
function Requests({ service, cluster }: { service: Service; cluster: Cluster }) {
  const s = useServiceStrings();
  const address = proxyAddress(useProject(), cluster.name, service.name);
  const server = cluster.poplar_servers.findIndex((each) => each.name === service.poplar_server);
  const forms = [
    { label: s.curl, text: `curl -H "Authorization: Bearer $IPUCLOUD_TOKEN" ${address}` },
    { label: s.forward, text: `ipucloud clusters ssh ${cluster.name}${server > 0 ? ` --server ${server}` : ""} --forward ${service.port}` },
  ];
  return (
    <Container header={<Header variant="h2" description={s.requestsText}>{s.requests}</Header>}>
      <KeyValuePairs
        columns={1}
        items={[
          { label: s.address, value: <Copyable text={address} label={s.address} command /> },
          ...forms.map(({ label, text }) => ({ label, value: <Copyable text={text} label={label} command /> })),
        ]}
      />
    </Container>
  );
}

function Stop({ service, onClose }: { service: Service; onClose: () => void }) {
  const s = useServiceStrings();
  const flash = useFlash();
  const project = useProject();
  const run = useChange(() => stopService(project, service.cluster, service.id), () => {
    flash({ type: "success", content: s.stopRequested(service.name) });
    onClose();
  });
  return (
    <Dialog title={s.stopTitle(service.name)} submit={s.stop} pending={run.isPending} error={run.error} onSubmit={() => run.mutate()} onClose={onClose}>
      <Consequences type="warning" lines={s.stopWhat} />
    </Dialog>
  );
}

function RollBack({ service, onClose }: { service: Service; onClose: (shown?: Service) => void }) {
  const s = useServiceStrings();
  const project = useProject();
  const run = useChange(() => rollBackService(project, service.cluster, service.id), onClose);
  return (
    <Dialog title={s.rollbackTitle(service.name)} submit={s.rollback} pending={run.isPending} error={run.error} onSubmit={() => run.mutate()} onClose={() => onClose()}>
      <Consequences lines={s.rollbackWhat} />
    </Dialog>
  );
}
