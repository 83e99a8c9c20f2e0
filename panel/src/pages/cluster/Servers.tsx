import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { projectPrices } from "../../api/catalogue";
import type { Cluster } from "../../api/queries";
import { SNAPSHOT_SKU } from "../../api/snapshots";
import { useMay, useProject } from "../../app/Project";
import { Copyable } from "../../components/Copyable";
import { Health } from "../../components/Health";
import { later } from "../../components/later";
import { To } from "../../components/To";
import { useFormat, useStrings } from "../../i18n";

const TakeSnapshot = later(async () => (await import("../volumes/TakeSnapshot")).TakeSnapshot, null);
const ChangeKeys = later(async () => (await import("./ChangeKeys")).ChangeKeys, null);

/** How to log in to each server, and the key by which it is recognised. */
export function Servers({ cluster }: { cluster: Cluster }) {
  const { common, cluster: s, keys, terminal } = useStrings();
  const f = useFormat();
  const gone = ["deleting", "deleted"].includes(cluster.state);
  const may = useMay("cluster:write") && !gone;
  const inUse = ["active", "degraded"].includes(cluster.state);
  const prices = useQuery(projectPrices(useProject())).data?.items;
  const copied = inUse && prices?.some((each) => each.sku === SNAPSHOT_SKU && each.region === cluster.region);
  const [taking, setTaking] = useState(false);
  const [changing, setChanging] = useState(false);
  const running = cluster.poplar_servers.filter((server) => server.ssh);
  const actions = may && (
    <SpaceBetween direction="horizontal" size="xs">
      {copied && <Button onClick={() => setTaking(true)}>{s.takeSnapshot}</Button>}
      <Button onClick={() => setChanging(true)}>{keys.change}</Button>
    </SpaceBetween>
  );
  return (
    <Container header={<Header variant="h2" description={s.serversText} actions={actions}>{s.servers}</Header>}>
      <SpaceBetween size="l">
        {running.length === 0 && <Box color="text-body-secondary">{gone ? s.serversGone : s.serversLater}</Box>}
        {running.map((server, number) => server.ssh && (
          <KeyValuePairs
            key={server.id}
            columns={2}
            items={[
              { label: `${s.server} ${number + 1}`, value: <Copyable text={server.ssh.command} label={server.ssh.command} command /> },
              ...(may && inUse ? [{ label: terminal.label, value: <To href={`/clusters/${cluster.id}/terminal/${server.id}`}>{terminal.open}</To> }] : []),
              { label: s.tabs.console, value: <To href={`/clusters/${cluster.id}?tab=console&server=${server.id}`}>{s.showConsole}</To> },
              { label: s.hostKey, value: <Copyable text={server.ssh.host_key_fingerprint} label={s.hostKey} /> },
              { label: s.healthLabel, value: server.health && <Health health={server.health} /> },
              {
                label: keys.accepted,
                value: (
                  <>
                    {server.ssh_keys ? f.list(server.ssh_keys) || common.none : common.none}
                    {server.ssh_keys_since && <Box variant="small" display="block">{keys.acceptedSince(f.moment(server.ssh_keys_since))}</Box>}
                  </>
                ),
              },
            ]}
          />
        ))}
      </SpaceBetween>
      {taking && <TakeSnapshot cluster={cluster} onClose={() => setTaking(false)} />}
      {changing && <ChangeKeys cluster={cluster} onClose={() => setChanging(false)} />}
    </Container>
  );
}
