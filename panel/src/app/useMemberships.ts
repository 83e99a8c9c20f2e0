import { useQuery } from "@tanstack/react-query";
import type { Schemas } from "../api/client";
import { me, switchSession } from "../api/people";
import { useStrings } from "../i18n";
import { useFlash } from "./Flashes";

/** Where else the signed-in person is a member, for a menu: the session goes on there. Nothing for a service token. */
export function useMemberships(who: Schemas["Whoami"]) {
  const { common, members: s, shell } = useStrings();
  const flash = useFlash();
  const { data } = useQuery({ ...me, enabled: who.token.owner !== null });
  const here = who.project?.id ?? who.token.account_id;
  const items = (data?.memberships ?? [])
    .filter((each) => (each.project_id ?? each.account_id) !== here)
    .map((each) => ({ id: each.id, text: s.goOn(each.project ?? s.account), description: shell.roles[each.role] ?? each.role }));
  const goOn = async (membership: string) => {
    try {
      await switchSession(membership);
      location.replace("/"); // the project of this address is another's now, and so is all that was read
    } catch {
      flash({ type: "error", content: common.failed });
    }
  };
  return { items, goOn };
}
