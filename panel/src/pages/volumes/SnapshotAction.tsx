import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import { useState } from "react";
import { deleteSnapshot, renameSnapshot, SNAPSHOT_SKU, type Snapshot } from "../../api/snapshots";
import { useProject } from "../../app/Project";
import { Consequences } from "../../components/Consequences";
import { Dialog } from "../../components/Dialog";
import { Field } from "../../components/Field";
import { useChange } from "../../components/useChange";
import { useStrings } from "../../i18n";
import { useSnapshotStrings } from "../../i18n/snapshots";
import { useVolumeStrings } from "../../i18n/volumes";
import { useDone } from "./useDone";
import { useMonthly } from "./useMonthly";

type Props = { snapshot: Snapshot; onClose: () => void };

/** The dialog of what is to be done with a snapshot. */
export function SnapshotAction({ action, ...rest }: Props & { action: "rename" | "delete" }) {
  return action === "rename" ? <Rename {...rest} /> : <Delete {...rest} />;
}

function Rename({ snapshot, onClose }: Props) {
  const { common } = useStrings();
  const s = useSnapshotStrings();
  const project = useProject();
  const done = useDone(onClose);
  const [name, setName] = useState(snapshot.name);
  const run = useChange(() => renameSnapshot(project, snapshot.id, name.trim()), () => done(s.renamed(name.trim())));
  const ready = name.trim() !== "" && name.trim() !== snapshot.name;
  return (
    <Dialog title={s.renameTitle(snapshot.name)} submit={s.rename} ready={ready} pending={run.isPending} error={run.error} onSubmit={() => run.mutate()} onClose={onClose}>
      <Field at="/name" label={common.name} description={s.nameRule}>
        <Input value={name} onChange={({ detail }) => setName(detail.value)} autoComplete="off" autoFocus />
      </Field>
    </Dialog>
  );
}

function Delete({ snapshot, onClose }: Props) {
  const { common } = useStrings();
  const s = useSnapshotStrings();
  const { typeName } = useVolumeStrings();
  const project = useProject();
  const done = useDone(onClose);
  const cost = useMonthly(SNAPSHOT_SKU, snapshot.region, snapshot.state === "available" ? snapshot.size_gib : undefined);
  const [typed, setTyped] = useState("");
  const run = useChange(() => deleteSnapshot(project, snapshot.id), () => done(s.deleting(snapshot.name)));
  const what = snapshot.cluster ? s.deleteServerWhat : s.deleteWhat;
  return (
    <Dialog title={s.deleteTitle(snapshot.name)} submit={common.remove} ready={typed === snapshot.name} missing={typeName(snapshot.name)} pending={run.isPending} error={run.error} onSubmit={() => run.mutate()} onClose={onClose}>
      <Consequences type="warning" lines={cost ? [...what, s.saves(cost)] : what} />
      <FormField label={typeName(snapshot.name)}>
        <Input value={typed} onChange={({ detail }) => setTyped(detail.value)} autoComplete="off" autoFocus />
      </FormField>
    </Dialog>
  );
}
