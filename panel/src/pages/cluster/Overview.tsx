import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Container from "@cloudscape-design/components/container";
import Grid from "@cloudscape-design/components/grid";
import Header from "@cloudscape-design/components/header";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useQuery } from "@tanstack/react-query";
import type { Schemas } from "../../api/client";
import { flavors, regions, type Cluster } from "../../api/queries";
import { volumePage } from "../../api/volumes";
import { useProject } from "../../app/Project";
import { ClusterState } from "../../components/ClusterState";
import { Copyable } from "../../components/Copyable";
import { To } from "../../components/To";
import { useFormat, useStrings } from "../../i18n";
import { ScheduleNext } from "./ScheduleNext";
import { Servers } from "./Servers";
import { Timeline } from "./Timeline";
import { VipuEndpoint } from "./VipuEndpoint";

export function Overview({ cluster }: { cluster: Cluster }) {
  const { cluster: s } = useStrings();
  const f = useFormat();
  const reachable = ["active", "degraded"].includes(cluster.state);
  const credited = cluster.billing.credited_machines;
  const sold = useQuery(flavors(cluster.region)).data?.items;
  const ofHost = sold?.find((each) => each.name === cluster.flavor)?.allocated_through === "host-devices";
  return (
    <SpaceBetween size="l">
      {cluster.faults.length > 0 && (
        <Alert type="warning" header={s.faults}>
          {cluster.faults.map((fault) => <div key={fault.name + fault.code}>{`${fault.name}: ${fault.message}`}</div>)}
          {credited > 0 && <div>{s.credited(f.number(credited), f.number(cluster.machines.length))}</div>}
          {cluster.scheduled_repair && <div>{s.repair(f.moment(cluster.scheduled_repair.starts_at))}</div>}
        </Alert>
      )}
      {cluster.preempt_at && <Alert type="warning" header={s.preempted(f.moment(cluster.preempt_at))}>{s.preemptedText}</Alert>}
      {cluster.waiting && <Waiting waiting={cluster.waiting} />}
      <Facts cluster={cluster} />
      <Grid gridDefinition={[{ colspan: { default: 12, m: 7 } }, { colspan: { default: 12, m: 5 } }]}>
        <SpaceBetween size="l">
          <Servers cluster={cluster} />
          {reachable && sold && !ofHost && <VipuEndpoint cluster={cluster.id} />}
        </SpaceBetween>
        <Timeline cluster={cluster} />
      </Grid>
    </SpaceBetween>
  );
}

/** Its place among the clusters that wait for machines. */
function Waiting({ waiting }: { waiting: Schemas["CapacityWait"] }) {
  const { cluster: s } = useStrings();
  const f = useFormat();
  return (
    <Alert type="info" header={s.waiting(f.number(waiting.place))}>
      <div>{s.waitsUntil(f.moment(waiting.until))}</div>
      {waiting.expected_at && <div>{s.waitExpected(f.moment(waiting.expected_at))}</div>}
      {waiting.held_up_by && <div>{s.heldUp(s.heldUpBy[waiting.held_up_by] ?? waiting.held_up_by)}</div>}
    </Alert>
  );
}

/** From where SSH is let in, and whether the site was seen to enforce it. */
function Sources({ cluster }: { cluster: Cluster }) {
  const { common, cluster: s } = useStrings();
  const f = useFormat();
  const running = cluster.poplar_servers.filter((server) => server.ssh);
  const seen = running.map((server) => (server.ssh_access?.current ? server.ssh_access.observed_at : ""));
  const since = seen.includes("") ? undefined : seen.sort()[0];
  return (
    <>
      {f.list(cluster.allowed_sources) || common.none}
      {running.length > 0 && <Box variant="small" display="block">{since ? s.sourcesSeen(f.moment(since)) : s.sourcesPending}</Box>}
    </>
  );
}

function Facts({ cluster }: { cluster: Cluster }) {
  const { common, clusters, cluster: s } = useStrings();
  const f = useFormat();
  const { billing, price_per_minute: price } = cluster;
  const places = useQuery(regions).data?.items;
  const volumes = useQuery(volumePage(useProject(), { order: "-created_at", limit: 1000 })).data?.items.filter((each) => each.cluster === cluster.id) ?? [];
  const tags = Object.entries(cluster.tags).map(([name, value]) => `${name}=${value}`).join(", ");
  const why = cluster.waiting ? [] : [
    ...(cluster.state_reason ? [{ label: s.why, value: cluster.state_reason }] : []),
    ...(cluster.blocked_by ? [{ label: s.blocked, value: cluster.blocked_by }] : []),
  ];
  return (
    <Container header={<Header variant="h2">{s.overview}</Header>}>
      <KeyValuePairs
        columns={4}
        items={[
          { label: common.state, value: <ClusterState cluster={cluster} /> },
          { label: s.since, value: f.moment(cluster.state_entered_at) },
          ...why,
          {
            label: clusters.cost,
            value: <>{billing.cost ? f.money(billing.cost) : common.none}<Box variant="small" display="block">{s.minutes(billing.minutes, f.number(billing.minutes))}</Box></>,
          },
          { label: clusters.price, value: price ? f.amount(Number(price.amount) * 60, price.currency) : common.none },
          { label: s.billing, value: s.billingStatus[billing.status] },
          { label: clusters.flavor, value: `${cluster.flavor} (${f.number(cluster.ipus)} IPUs)` },
          { label: clusters.region, value: places?.find((each) => each.slug === cluster.region)?.name ?? cluster.region },
          { label: s.image, value: cluster.image },
          { label: s.keys, value: f.list(cluster.ssh_keys) || common.none },
          ...(cluster.allowed_sources.length || cluster.poplar_servers.some((each) => each.ssh_access && !each.ssh_access.current)
            ? [{ label: s.sources, value: <Sources cluster={cluster} /> }] : []),
          { label: s.tags, value: tags || common.none },
          ...(cluster.s3_connections.length ? [{ label: s.buckets, value: f.list(cluster.s3_connections) }] : []),
          ...(volumes.length
            ? [{ label: s.volumes, value: <>{volumes.map((each) => <div key={each.id}><To href="/volumes">{each.name}</To> {each.mount_path}</div>)}</> }]
            : []),
          ...(cluster.addresses.length
            ? [{ label: s.addresses, value: <>{cluster.addresses.map((each) => <div key={each.id}><To href="/addresses">{each.name}</To> {each.command ? <Copyable text={each.command} label={each.name} /> : each.ip}</div>)}</> }]
            : []),
          {
            label: s.expires,
            value: <>{cluster.expires_at ? f.moment(cluster.expires_at) : s.never}{cluster.expiry_warned_at && <Box variant="small" display="block">{s.expiresSoon}</Box>}</>,
          },
          ...(cluster.schedule ? [{ label: s.schedule, value: <ScheduleNext schedule={cluster.schedule} /> }] : []),
          ...(cluster.idle_suspend_minutes ? [{ label: s.idleStop, value: s.afterMinutes(cluster.idle_suspend_minutes) }] : []),
          { label: s.protection, value: cluster.delete_protection ? common.yes : common.no },
        ]}
      />
    </Container>
  );
}
