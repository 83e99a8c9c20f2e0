import Box from "@cloudscape-design/components/box";
import type { Schemas } from "../../api/client";
import { Notice } from "../../components/Notice";
import { ShownOnce } from "../../components/ShownOnce";
import { useStrings } from "../../i18n";

/** The link of an invitation, once; where the service sends it to the person, that it does so, and to whom. */
export function Invited({ made, onClose }: { made: Schemas["NewInvitation"]; onClose: () => void }) {
  const s = useStrings().members;
  const title = s.linkTitle(made.email);
  if (made.emailed) return <Notice title={title} onClose={onClose}><Box>{s.mailedText(made.email)}</Box></Notice>;
  return made.url && <ShownOnce title={title} text={s.linkText} secret={made.url} onClose={onClose} />;
}
