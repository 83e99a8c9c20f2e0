import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { useQuery } from "@tanstack/react-query";
import { useSearchParams } from "react-router";
import type { Schemas } from "../../api/client";
import { consoleOf, NEWEST, type Console } from "../../api/consoles";
import type { Cluster } from "../../api/queries";
import { useProject } from "../../app/Project";
import { Choice } from "../../components/Choice";
import { Empty } from "../../components/Empty";
import { Failure } from "../../components/Failure";
import { Loading } from "../../components/Loading";
import { save } from "../../components/save";
import { Tail } from "../../components/Tail";
import { useFormat, useStrings } from "../../i18n";
import { useConsoleStrings } from "../../i18n/consoles";
import { printable } from "./printable";

type Boot = Schemas["ConsoleBoot"];

/** What a Poplar server wrote in one of its boots, as the address says; without one, in its newest, also as that goes on. */
export function ConsoleTab({ cluster }: { cluster: Cluster }) {
  const s = useConsoleStrings();
  const [address, setAddress] = useSearchParams();
  const servers = cluster.poplar_servers;
  const server = servers.find((each) => each.id === address.get("server")) ?? servers[0];
  const boot = Number(address.get("boot") ?? NEWEST) || NEWEST;
  const working = cluster.operation !== null && !cluster.operation.done;
  const { data, error, refetch } = useQuery(consoleOf(useProject(), cluster.id, server?.id ?? "", boot, working));
  if (!server) return <Empty title={s.noServers} text={s.noServersText} />;
  if (!data) return error ? <Failure error={error} retry={() => void refetch()} /> : <Loading />;
  const show = (id: string, number: number) =>
    setAddress({ tab: "console", server: id, ...(number !== NEWEST && { boot: String(number) }) }, { replace: true });
  const newest = data.boots.at(-1)?.number;
  return (
    <SpaceBetween size="l">
      <SpaceBetween direction="horizontal" size="xs">
        <Choice label={s.server} value={server.id} options={Object.fromEntries(servers.map((each, index) => [each.id, s.serverOf(index + 1)]))} onChange={(id) => show(id, NEWEST)} />
        {newest && (
          <BootChoice boots={data.boots} value={boot === NEWEST ? newest : boot} onChange={(number) => show(server.id, number === newest ? NEWEST : number)} />
        )}
      </SpaceBetween>
      <Shown cluster={cluster.name} server={servers.indexOf(server) + 1} found={data} />
    </SpaceBetween>
  );
}

function BootChoice({ boots, value, onChange }: { boots: Boot[]; value: number; onChange: (number: number) => void }) {
  const s = useConsoleStrings();
  const f = useFormat();
  // A key that is a number would put the oldest first.
  const options = Object.fromEntries(boots.toReversed().map((each) => [`boot-${each.number}`, s.bootOf(each.number, f.moment(each.started_at))]));
  return <Choice label={s.boot} value={`boot-${value}`} options={options} onChange={(chosen) => onChange(Number(chosen.replace("boot-", "")))} />;
}

function Shown({ cluster, server, found }: { cluster: string; server: number; found: Console }) {
  const { common } = useStrings();
  const s = useConsoleStrings();
  const f = useFormat();
  const boot = found.boots.find((each) => each.number === found.boot);
  if (!boot || found.text === null) {
    return found.boots.length ? <Empty title={s.noBoot} text={s.noBootText} /> : <Empty title={s.emptyTitle} text={s.emptyText} />;
  }
  const text = found.text;
  const title = s.text(cluster, server, boot.number);
  const download = <Button iconName="download" onClick={() => save(s.fileName(cluster, server, boot.number), text)}>{s.download}</Button>;
  const state = boot.ended_at
    ? <StatusIndicator type="stopped">{s.endedAt(f.second(boot.ended_at))}</StatusIndicator>
    : <StatusIndicator type="in-progress">{s.runs}</StatusIndicator>;
  const kilobytes = (bytes: number) => s.kilobytes(f.number(bytes / 1000, 1));
  return (
    <Container header={<Header variant="h2" description={s.description} actions={download}>{title}</Header>}>
      <SpaceBetween size="m">
        <KeyValuePairs
          columns={4}
          items={[
            { label: common.state, value: state },
            { label: s.started, value: f.second(boot.started_at) },
            { label: s.observed, value: f.second(boot.observed_at) },
            { label: s.size, value: kilobytes(boot.bytes) },
          ]}
        />
        {boot.dropped_bytes > 0 && <Alert type="info">{s.dropped(f.number(boot.dropped_bytes / 1000, 1))}</Alert>}
        {text ? (
          <Tail key={`${found.poplar_server} ${boot.number}`} label={title} text={text}><pre>{printable(text)}</pre></Tail>
        ) : <Box color="text-body-secondary">{s.noText}</Box>}
      </SpaceBetween>
    </Container>
  );
}
