import Alert from "@cloudscape-design/components/alert";
import Button from "@cloudscape-design/components/button";
import Input from "@cloudscape-design/components/input";
import Textarea from "@cloudscape-design/components/textarea";
import { useState } from "react";
import { api } from "../api/client";
import { useFlash } from "../app/Flashes";
import { useProject } from "../app/Project";
import { useStrings } from "../i18n";
import { Dialog } from "./Dialog";
import { Field } from "./Field";
import { canMakeKeys, makeKeyPair } from "./keyPair";
import { save } from "./save";
import { useChange } from "./useChange";

/** Adds an SSH key to the project; tells its name once it is there. */
export function AddKey({ onClose }: { onClose: (added?: string) => void }) {
  const s = useStrings().keys;
  const flash = useFlash();
  const project = useProject();
  const [name, setName] = useState("");
  const [publicKey, setPublicKey] = useState("");
  const [saved, setSaved] = useState("");
  const [failed, setFailed] = useState<unknown>();
  const generate = async () => {
    const made = await makeKeyPair(name);
    save(name, made.privateKey, "application/octet-stream");
    setPublicKey(made.publicKey);
    setSaved(name);
  };
  const run = useChange(
    () => api.POST("/v1/projects/{project}/ssh-keys", { params: { path: { project } }, body: { name, public_key: publicKey.trim() } }),
    () => {
      flash({ type: "success", content: s.added(name) });
      onClose(name);
    },
  );
  return (
    <Dialog
      title={s.add}
      submit={s.add}
      ready={name !== "" && publicKey !== ""}
      pending={run.isPending}
      error={run.error ?? failed}
      onSubmit={() => run.mutate()}
      onClose={() => onClose()}
    >
      <Field at="/name" label={s.name}><Input value={name} onChange={({ detail }) => setName(detail.value)} autoFocus /></Field>
      <Field
        at="/public_key"
        label={s.publicKey}
        description={s.publicKeyHelp}
        secondaryControl={canMakeKeys() && <Button formAction="none" disabled={name === ""} onClick={() => generate().catch(setFailed)}>{s.generate}</Button>}
      >
        <Textarea value={publicKey} onChange={({ detail }) => setPublicKey(detail.value)} rows={4} spellcheck={false} />
      </Field>
      {saved && <Alert type="info">{s.generated(saved)}</Alert>}
    </Dialog>
  );
}
