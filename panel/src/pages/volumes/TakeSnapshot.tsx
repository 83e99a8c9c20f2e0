import Input from "@cloudscape-design/components/input";
import Select from "@cloudscape-design/components/select";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { ClusterSummary } from "../../api/queries";
import { SNAPSHOT_SKU, takeSnapshot } from "../../api/snapshots";
import { volumePage, type Volume } from "../../api/volumes";
import { useProject } from "../../app/Project";
import { Consequences } from "../../components/Consequences";
import { Dialog } from "../../components/Dialog";
import { Field } from "../../components/Field";
import { useChange } from "../../components/useChange";
import { useFormat, useStrings } from "../../i18n";
import { useSnapshotStrings } from "../../i18n/snapshots";
import { useVolumeStrings } from "../../i18n/volumes";
import { useClusters } from "./useClusters";
import { useDone } from "./useDone";
import { useMonthly } from "./useMonthly";

const MOST = 200;
const IN_USE = ["active", "degraded"];

type Cluster = Pick<ClusterSummary, "id" | "name" | "region" | "poplar_servers">;
/** What is copied. `server`: the id of a Poplar server of the cluster. */
type Source = { volume: Volume; cluster?: undefined } | { volume?: undefined; cluster: Cluster; server: string };
type Option = { value: string; label: string; description: string; source: Source };
type Chosen = { source: Source | undefined; onChange: (source: Source) => void };

/** A new snapshot of `volume`, of a server of `cluster`, or of what is chosen. */
export function TakeSnapshot({ volume, cluster, onClose }: { volume?: Volume; cluster?: Cluster; onClose: () => void }) {
  const { common } = useStrings();
  const s = useSnapshotStrings();
  const project = useProject();
  const done = useDone(onClose);
  const serversOf = useServers();
  const [name, setName] = useState("");
  const [source, setSource] = useState<Source | undefined>(volume ? { volume } : cluster && serversOf(cluster)[0]?.source);
  const whole = useMonthly(SNAPSHOT_SKU, source?.volume?.region, source?.volume?.size_gib);
  const each = useMonthly(SNAPSHOT_SKU, source?.cluster?.region, 1);
  const cost = source?.cluster ? each && s.perGibMonth(each) : whole && s.perMonth(whole);
  const of = source?.cluster ? { cluster: source.cluster.id, poplar_server: source.server } : { volume: source?.volume?.id ?? "" };
  const run = useChange(() => takeSnapshot(project, { name: name.trim(), ...of }), () => done(s.taking(name.trim())));
  const ready = name.trim() !== "" && source !== undefined;
  const fixed = volume?.name ?? cluster?.name;
  return (
    <Dialog title={fixed ? s.takeOf(fixed) : s.take} submit={s.take} ready={ready} pending={run.isPending} error={run.error} onSubmit={() => run.mutate()} onClose={onClose}>
      {!fixed && <AnySource source={source} onChange={setSource} />}
      {cluster && cluster.poplar_servers.length > 1 && <SourceField options={serversOf(cluster)} source={source} onChange={setSource} />}
      <Field at="/name" label={common.name} description={s.nameRule} constraintText={cost}>
        <Input value={name} onChange={({ detail }) => setName(detail.value)} autoComplete="off" autoFocus />
      </Field>
      <Consequences lines={source?.cluster ? s.takeServerWhat : s.takeWhat} />
    </Dialog>
  );
}

function AnySource(chosen: Chosen) {
  const s = useSnapshotStrings();
  const { title, gib } = useVolumeStrings();
  const f = useFormat();
  const serversOf = useServers();
  const found = useQuery(volumePage(useProject(), { state: ["available", "attached"], order: "-created_at", limit: MOST })).data?.items ?? [];
  const volumes = found.map((volume) => ({ value: volume.id, label: volume.name, description: gib(f.number(volume.size_gib)), source: { volume } }));
  const servers = (useClusters() ?? []).filter((each) => IN_USE.includes(each.state)).flatMap(serversOf);
  const groups = [{ label: title, options: volumes }, { label: s.servers, options: servers }];
  return <SourceField options={[...volumes, ...servers]} groups={groups.filter((each) => each.options.length > 0)} {...chosen} />;
}

/** The servers of a cluster as they can be chosen. */
function useServers(): (cluster: Cluster) => Option[] {
  const { server } = useStrings().cluster;
  return (cluster) => cluster.poplar_servers.map((each, number) => ({
    value: each.id, label: `${cluster.name}, ${server} ${number + 1}`, description: each.name, source: { cluster, server: each.id },
  }));
}

const idOf = (source: Source) => (source.cluster ? source.server : source.volume.id);

function SourceField({ options, groups, source, onChange }: Chosen & { options: Option[]; groups?: { label: string; options: Option[] }[] }) {
  const s = useSnapshotStrings();
  return (
    <Field at={source?.cluster ? "/poplar_server" : "/volume"} label={s.source}>
      <Select
        placeholder={s.chooseSource}
        empty={s.noSource}
        options={groups ?? options}
        selectedOption={options.find((each) => source && each.value === idOf(source)) ?? null}
        onChange={({ detail }) => {
          const found = options.find((each) => each.value === detail.selectedOption.value);
          if (found) onChange(found.source);
        }}
      />
    </Field>
  );
}
