import Box from "@cloudscape-design/components/box";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import type { Cluster } from "../../api/queries";
import { Copyable } from "../../components/Copyable";
import { Health } from "../../components/Health";
import { useStrings } from "../../i18n";

/** How to log in to each server, and the key by which it is recognised. */
export function Servers({ cluster }: { cluster: Cluster }) {
  const s = useStrings().cluster;
  const running = cluster.poplar_servers.filter((server) => server.ssh);
  return (
    <Container header={<Header variant="h2" description={s.serversText}>{s.servers}</Header>}>
      <SpaceBetween size="l">
        {running.length === 0 && <Box color="text-body-secondary">{s.serversLater}</Box>}
        {running.map((server, number) => server.ssh && (
          <KeyValuePairs
            key={server.id}
            columns={3}
            items={[
              { label: `${s.server} ${number + 1}`, value: <Copyable text={server.ssh.command} label={server.ssh.command} /> },
              { label: s.hostKey, value: <Copyable text={server.ssh.host_key_fingerprint} label={s.hostKey} /> },
              { label: s.healthLabel, value: server.health && <Health health={server.health} /> },
            ]}
          />
        ))}
      </SpaceBetween>
    </Container>
  );
}
