import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import Select from "@cloudscape-design/components/select";
import { useState } from "react";
import { attachVolume, deleteVolume, detachVolume, resizeVolume, type Volume } from "../../api/volumes";
import { useProject } from "../../app/Project";
import { Consequences } from "../../components/Consequences";
import { Dialog } from "../../components/Dialog";
import { Field } from "../../components/Field";
import { useChange } from "../../components/useChange";
import { useFormat, useStrings } from "../../i18n";
import { useVolumeStrings } from "../../i18n/volumes";
import { SizeField, wholeGib } from "./SizeField";
import { TakeSnapshot } from "./TakeSnapshot";
import { useClusters } from "./useClusters";
import { useDone } from "./useDone";
import type { Action } from "./VolumeTable";

type Props = { volume: Volume; onClose: () => void };

/** The dialog of what is to be done with a volume. */
export function VolumeAction({ action, ...rest }: Props & { action: Action }) {
  if (action === "attach") return <Attach {...rest} />;
  if (action === "grow") return <Grow {...rest} />;
  if (action === "snapshot") return <TakeSnapshot {...rest} />;
  return action === "detach" ? <Detach {...rest} /> : <Delete {...rest} />;
}

function Attach({ volume, onClose }: Props) {
  const s = useVolumeStrings();
  const project = useProject();
  const done = useDone(onClose);
  const [cluster, setCluster] = useState<string>();
  const options = (useClusters() ?? [])
    .filter((each) => each.region === volume.region && ["active", "degraded"].includes(each.state))
    .map((each) => ({ value: each.id, label: each.name, description: each.flavor }));
  const run = useChange(() => attachVolume(project, volume.id, cluster ?? ""), () => done(s.attaching(volume.name)));
  return (
    <Dialog title={s.attachTitle(volume.name)} submit={s.attach} ready={cluster !== undefined} pending={run.isPending} error={run.error} onSubmit={() => run.mutate()} onClose={onClose}>
      <Field at="/cluster" label={s.cluster} description={s.attachText(`/volumes/${volume.name}`)}>
        <Select
          placeholder={s.chooseCluster}
          empty={s.noCluster}
          options={options}
          selectedOption={options.find((each) => each.value === cluster) ?? null}
          onChange={({ detail }) => setCluster(detail.selectedOption.value)}
        />
      </Field>
    </Dialog>
  );
}

function Detach({ volume, onClose }: Props) {
  const s = useVolumeStrings();
  const project = useProject();
  const done = useDone(onClose);
  const run = useChange(() => detachVolume(project, volume.id), () => done(s.detaching(volume.name)));
  return (
    <Dialog title={s.detachTitle(volume.name)} submit={s.detach} pending={run.isPending} error={run.error} onSubmit={() => run.mutate()} onClose={onClose}>
      <Consequences type="warning" lines={s.detachWhat} />
    </Dialog>
  );
}

function Grow({ volume, onClose }: Props) {
  const s = useVolumeStrings();
  const f = useFormat();
  const project = useProject();
  const done = useDone(onClose);
  const [size, setSize] = useState(String(2 * volume.size_gib));
  const gib = wholeGib(size);
  const run = useChange(() => resizeVolume(project, volume.id, gib ?? 0), () => done(s.growingNow(volume.name)));
  const ready = gib !== undefined && gib > volume.size_gib;
  return (
    <Dialog title={s.growTitle(volume.name)} submit={s.grow} ready={ready} pending={run.isPending} error={run.error} onSubmit={() => run.mutate()} onClose={onClose}>
      <SizeField size={size} onChange={setSize} region={volume.region} help={s.growHelp(f.number(volume.size_gib))} />
    </Dialog>
  );
}

function Delete({ volume, onClose }: Props) {
  const { common } = useStrings();
  const s = useVolumeStrings();
  const project = useProject();
  const done = useDone(onClose);
  const [typed, setTyped] = useState("");
  const run = useChange(() => deleteVolume(project, volume.id), () => done(s.deleting(volume.name)));
  return (
    <Dialog title={s.deleteTitle(volume.name)} submit={common.remove} ready={typed === volume.name} missing={s.typeName(volume.name)} pending={run.isPending} error={run.error} onSubmit={() => run.mutate()} onClose={onClose}>
      <Consequences type="warning" lines={s.deleteWhat} />
      <FormField label={s.typeName(volume.name)}>
        <Input value={typed} onChange={({ detail }) => setTyped(detail.value)} autoComplete="off" autoFocus />
      </FormField>
    </Dialog>
  );
}
