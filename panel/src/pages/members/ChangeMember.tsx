import Alert from "@cloudscape-design/components/alert";
import { useState } from "react";
import { removeMember, setRole, type Member, type ProjectRole } from "../../api/people";
import { useFlash } from "../../app/Flashes";
import { useProject } from "../../app/Project";
import { Dialog } from "../../components/Dialog";
import { useChange } from "../../components/useChange";
import { useStrings } from "../../i18n";
import { RoleChoice } from "./RoleChoice";

export type MemberChange = "role" | "remove";

/** Gives a member another role, or removes it. */
export function ChangeMember({ change, member, onClose }: { change: MemberChange; member: Member; onClose: () => void }) {
  const s = useStrings().members;
  const flash = useFlash();
  const project = useProject();
  const [role, choose] = useState(member.role);
  const run = useChange<void>(
    async () => {
      if (change === "role") await setRole(project, member.id, role as ProjectRole);
      else await removeMember(project, member.id);
    },
    () => {
      flash({ type: "success", content: (change === "role" ? s.roleChanged : s.removed)(member.email) });
      onClose();
    },
  );
  return (
    <Dialog
      title={(change === "role" ? s.roleTitle : s.removeTitle)(member.email)}
      submit={change === "role" ? s.changeRole : s.remove}
      ready={change === "remove" || role !== member.role}
      pending={run.isPending}
      error={run.error}
      onSubmit={() => run.mutate()}
      onClose={onClose}
    >
      <Alert type={change === "role" ? "info" : "warning"}>{change === "role" ? s.roleText : s.removeText}</Alert>
      {change === "role" && <RoleChoice value={role} onChange={choose} />}
    </Dialog>
  );
}
