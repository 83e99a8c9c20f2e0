import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import Modal from "@cloudscape-design/components/modal";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Textarea from "@cloudscape-design/components/textarea";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../api/client";
import { sshKeys } from "../api/queries";
import { useFlash } from "../app/Flashes";
import { useProject } from "../app/Project";
import { useStrings } from "../i18n";
import { Failure } from "./Failure";

/** Adds an SSH key to the project; tells its name once it is there. */
export function AddKey({ onClose }: { onClose: (added?: string) => void }) {
  const { common, keys: s } = useStrings();
  const flash = useFlash();
  const project = useProject();
  const cache = useQueryClient();
  const [name, setName] = useState("");
  const [publicKey, setPublicKey] = useState("");
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => api.POST("/v1/projects/{project}/ssh-keys", { params: { path: { project } }, body: { name, public_key: publicKey.trim() } }),
    onSuccess: async () => {
      await cache.invalidateQueries(sshKeys(project));
      flash({ type: "success", content: s.added(name) });
      onClose(name);
    },
  });
  return (
    <Modal
      visible
      header={s.add}
      closeAriaLabel={common.close}
      onDismiss={() => onClose()}
      footer={
        <Box float="right">
          <SpaceBetween direction="horizontal" size="xs">
            <Button variant="link" onClick={() => onClose()}>{common.cancel}</Button>
            <Button variant="primary" disabled={!name || !publicKey} loading={isPending} onClick={() => mutate()}>{s.add}</Button>
          </SpaceBetween>
        </Box>
      }
    >
      <SpaceBetween size="m">
        <FormField label={s.name}><Input value={name} onChange={({ detail }) => setName(detail.value)} autoFocus /></FormField>
        <FormField label={s.publicKey} description={s.publicKeyHelp}>
          <Textarea value={publicKey} onChange={({ detail }) => setPublicKey(detail.value)} rows={4} spellcheck={false} />
        </FormField>
        <Failure error={error} />
      </SpaceBetween>
    </Modal>
  );
}
