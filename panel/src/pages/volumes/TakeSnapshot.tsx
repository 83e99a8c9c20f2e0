import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import Select from "@cloudscape-design/components/select";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { SNAPSHOT_SKU, takeSnapshot } from "../../api/snapshots";
import { volumePage, type Volume } from "../../api/volumes";
import { useProject } from "../../app/Project";
import { Consequences } from "../../components/Consequences";
import { Dialog } from "../../components/Dialog";
import { useChange } from "../../components/useChange";
import { useFormat, useStrings } from "../../i18n";
import { useSnapshotStrings } from "../../i18n/snapshots";
import { useVolumeStrings } from "../../i18n/volumes";
import { useDone } from "./useDone";
import { useMonthly } from "./useMonthly";

const MOST = 200;

/** A new snapshot of `volume`, or of one that is chosen. */
export function TakeSnapshot({ volume: fixed, onClose }: { volume?: Volume; onClose: () => void }) {
  const { common } = useStrings();
  const s = useSnapshotStrings();
  const project = useProject();
  const done = useDone(onClose);
  const [name, setName] = useState("");
  const [volume, setVolume] = useState(fixed);
  const cost = useMonthly(SNAPSHOT_SKU, volume?.region, volume?.size_gib);
  const run = useChange(() => takeSnapshot(project, { name: name.trim(), volume: volume?.id ?? "" }), () => done(s.taking(name.trim())));
  const ready = name.trim() !== "" && volume !== undefined;
  return (
    <Dialog title={fixed ? s.takeOf(fixed.name) : s.take} submit={s.take} ready={ready} pending={run.isPending} error={run.error} onSubmit={() => run.mutate()} onClose={onClose}>
      {!fixed && <VolumeField volume={volume} onChange={setVolume} />}
      <FormField label={common.name} description={s.nameRule} constraintText={cost && s.perMonth(cost)}>
        <Input value={name} onChange={({ detail }) => setName(detail.value)} autoComplete="off" autoFocus />
      </FormField>
      <Consequences lines={s.takeWhat} />
    </Dialog>
  );
}

function VolumeField({ volume, onChange }: { volume: Volume | undefined; onChange: (volume: Volume | undefined) => void }) {
  const s = useSnapshotStrings();
  const { gib } = useVolumeStrings();
  const f = useFormat();
  const found = useQuery(volumePage(useProject(), { state: ["available", "attached"], order: "-created_at", limit: MOST })).data?.items ?? [];
  const options = found.map((each) => ({ value: each.id, label: each.name, description: gib(f.number(each.size_gib)) }));
  return (
    <FormField label={s.volume}>
      <Select
        placeholder={s.chooseVolume}
        empty={s.noVolume}
        options={options}
        selectedOption={options.find((each) => each.value === volume?.id) ?? null}
        onChange={({ detail }) => onChange(found.find((each) => each.id === detail.selectedOption.value))}
      />
    </FormField>
  );
}
