import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import Select from "@cloudscape-design/components/select";
import { useState } from "react";
import { attachAddress, deleteAddress, detachAddress, limitAddress, type Address } from "../../api/addresses";
import { useProject } from "../../app/Project";
import { Consequences } from "../../components/Consequences";
import { Dialog } from "../../components/Dialog";
import { Field } from "../../components/Field";
import { networksIn } from "../../components/networks";
import { SourcesField } from "../../components/SourcesField";
import { useChange } from "../../components/useChange";
import { useStrings } from "../../i18n";
import { useAddressStrings } from "../../i18n/addresses";
import type { Action } from "../Addresses";
import { useClusters } from "../volumes/useClusters";
import { useDone } from "../volumes/useDone";

type Props = { address: Address; onClose: () => void };

/** The dialog of what is to be done with an address. */
export function AddressAction({ action, ...rest }: Props & { action: Action }) {
  if (action === "attach") return <Attach {...rest} />;
  if (action === "sources") return <Limit {...rest} />;
  return action === "detach" ? <Detach {...rest} /> : <Delete {...rest} />;
}

function Attach({ address, onClose }: Props) {
  const s = useAddressStrings();
  const project = useProject();
  const done = useDone(onClose);
  const [cluster, setCluster] = useState<string>();
  const options = (useClusters() ?? [])
    .filter((each) => each.region === address.region && ["active", "degraded"].includes(each.state))
    .map((each) => ({ value: each.id, label: each.name, description: each.flavor }));
  const run = useChange(() => attachAddress(project, address.id, cluster ?? ""), () => done(s.attaching(address.name)));
  return (
    <Dialog title={s.attachTitle(address.name)} submit={s.attach} ready={cluster !== undefined} pending={run.isPending} error={run.error} onSubmit={() => run.mutate()} onClose={onClose}>
      <Field at="/cluster" label={s.cluster} description={s.attachText}>
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

function Limit({ address, onClose }: Props) {
  const { common } = useStrings();
  const s = useAddressStrings();
  const project = useProject();
  const done = useDone(onClose);
  const [text, setText] = useState(address.allowed_sources.join("\n"));
  const run = useChange(() => limitAddress(project, address.id, networksIn(text)), () => done(s.limited(address.name)));
  return (
    <Dialog title={s.limitTitle(address.name)} submit={common.save} pending={run.isPending} error={run.error} onSubmit={() => run.mutate()} onClose={onClose}>
      <SourcesField text={text} onChange={setText} description={s.sourcesText} />
    </Dialog>
  );
}

function Detach({ address, onClose }: Props) {
  const s = useAddressStrings();
  const project = useProject();
  const done = useDone(onClose);
  const run = useChange(() => detachAddress(project, address.id), () => done(s.detaching(address.name)));
  return (
    <Dialog title={s.detachTitle(address.name)} submit={s.detach} pending={run.isPending} error={run.error} onSubmit={() => run.mutate()} onClose={onClose}>
      <Consequences type="warning" lines={s.detachWhat} />
    </Dialog>
  );
}

function Delete({ address, onClose }: Props) {
  const { common } = useStrings();
  const s = useAddressStrings();
  const project = useProject();
  const done = useDone(onClose);
  const [typed, setTyped] = useState("");
  const run = useChange(() => deleteAddress(project, address.id), () => done(s.deleting(address.name)));
  return (
    <Dialog title={s.deleteTitle(address.name)} submit={common.remove} ready={typed === address.name} missing={s.typeName(address.name)} pending={run.isPending} error={run.error} onSubmit={() => run.mutate()} onClose={onClose}>
      <Consequences type="warning" lines={s.deleteWhat} />
      <FormField label={s.typeName(address.name)}>
        <Input value={typed} onChange={({ detail }) => setTyped(detail.value)} autoComplete="off" autoFocus />
      </FormField>
    </Dialog>
  );
}
