import { useState } from "react";
import { limitMember, type Member } from "../../api/people";
import { useFlash } from "../../app/Flashes";
import { useProject } from "../../app/Project";
import { Dialog } from "../../components/Dialog";
import { networksIn } from "../../components/networks";
import { SourcesField } from "../../components/SourcesField";
import { useChange } from "../../components/useChange";
import { useStrings } from "../../i18n";

/** From where a member's sessions and logins are accepted. */
export function LimitMember({ member, onClose }: { member: Member; onClose: () => void }) {
  const { common, members: s } = useStrings();
  const flash = useFlash();
  const project = useProject();
  const [text, setText] = useState(member.allowed_sources.join("\n"));
  const run = useChange(() => limitMember(project, member.id, networksIn(text)), () => {
    flash({ type: "success", content: s.limited(member.email) });
    onClose();
  });
  return (
    <Dialog title={s.limitTitle(member.email)} submit={common.save} pending={run.isPending} error={run.error} onSubmit={() => run.mutate()} onClose={onClose}>
      <SourcesField text={text} onChange={setText} description={s.sourcesText} />
    </Dialog>
  );
}
