import Input from "@cloudscape-design/components/input";
import { useState } from "react";
import type { Schemas } from "../../api/client";
import { invite, type ProjectRole } from "../../api/people";
import { useProject } from "../../app/Project";
import { Dialog } from "../../components/Dialog";
import { Field } from "../../components/Field";
import { useChange } from "../../components/useChange";
import { useStrings } from "../../i18n";
import { RoleChoice } from "./RoleChoice";

/** Invites a person; the link is sent to them, or is in the answer, once. */
export function Invite({ onClose }: { onClose: (made?: Schemas["NewInvitation"]) => void }) {
  const s = useStrings().members;
  const project = useProject();
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<ProjectRole>("operator");
  const run = useChange(() => invite(project, { email: email.trim(), role }), onClose);
  return (
    <Dialog
      title={s.inviteTitle}
      submit={s.invite}
      ready={email.includes("@")}
      pending={run.isPending}
      error={run.error}
      onSubmit={() => run.mutate()}
      onClose={() => onClose()}
    >
      <Field at="/email" label={s.email} description={s.inviteText}>
        <Input type="email" value={email} onChange={({ detail }) => setEmail(detail.value)} autoComplete={false} autoFocus />
      </Field>
      <RoleChoice value={role} onChange={setRole} />
    </Dialog>
  );
}
