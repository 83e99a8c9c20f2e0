import Alert from "@cloudscape-design/components/alert";
import type { Schemas } from "../../api/client";
import { renewInvitation, revokeInvitation, type Invitation } from "../../api/people";
import { useProject } from "../../app/Project";
import { Dialog } from "../../components/Dialog";
import { useChange } from "../../components/useChange";
import { useStrings } from "../../i18n";

export type InvitationChange = "renew" | "revoke";

type Props = { change: InvitationChange; invitation: Invitation; onClose: (made?: Schemas["NewInvitation"]) => void };

/** Makes another link for an invitation, or ends it. */
export function ChangeInvitation({ change, invitation, onClose }: Props) {
  const s = useStrings().members;
  const project = useProject();
  const run = useChange<Schemas["NewInvitation"] | undefined>(
    async () => {
      if (change === "renew") return renewInvitation(project, invitation.id);
      await revokeInvitation(project, invitation.id);
      return undefined;
    },
    onClose,
  );
  return (
    <Dialog
      title={(change === "renew" ? s.renewTitle : s.revokeTitle)(invitation.email)}
      submit={s[change]}
      pending={run.isPending}
      error={run.error}
      onSubmit={() => run.mutate()}
      onClose={() => onClose()}
    >
      <Alert type={change === "renew" ? "info" : "warning"}>{change === "renew" ? s.renewText : s.revokeText}</Alert>
    </Dialog>
  );
}
