import Alert from "@cloudscape-design/components/alert";
import FormField from "@cloudscape-design/components/form-field";
import Select from "@cloudscape-design/components/select";
import { useState } from "react";
import { revokeToken, rotateToken, type Token } from "../../api/access";
import type { Schemas } from "../../api/client";
import { useFlash } from "../../app/Flashes";
import { useProject } from "../../app/Project";
import { Dialog } from "../../components/Dialog";
import { useChange } from "../../components/useChange";
import { useTokenStrings } from "../../i18n/tokens";

export type TokenEnd = "revoke" | "rotate";
type Props = { end: TokenEnd; token: Token; own: boolean; onClose: (made?: Schemas["NewToken"]) => void };

/** Revokes a token, or replaces its secret; `own`: whoever does it is signed in with it. */
export function EndToken({ end, token, own, onClose }: Props) {
  const s = useTokenStrings();
  const flash = useFlash();
  const project = useProject();
  const overlaps = [
    { value: "0", label: s.overlapNone }, { value: "3600", label: s.overlapHour }, { value: "86400", label: s.overlapDay }, { value: "604800", label: s.overlapWeek },
  ];
  const [overlap, setOverlap] = useState("3600");
  const run = useChange(
    async () => (end === "rotate" ? rotateToken(project, token.id, Number(overlap)) : void (await revokeToken(project, token.id))),
    (made) => {
      if (!made) flash({ type: "success", content: s.revoked(token.name) });
      onClose(made ?? undefined);
    },
  );
  return (
    <Dialog
      title={(end === "revoke" ? s.revokeTitle : s.rotateTitle)(token.name)}
      submit={s[end]}
      pending={run.isPending}
      error={run.error}
      onSubmit={() => run.mutate()}
      onClose={() => onClose()}
    >
      <Alert type={end === "revoke" || own ? "warning" : "info"}>
        {end === "revoke" ? s.revokeText : s.rotateText}
        {own && <div>{s.ownText}</div>}
      </Alert>
      {end === "rotate" && (
        <FormField label={s.overlap} description={s.overlapText}>
          <Select options={overlaps} selectedOption={overlaps.find((each) => each.value === overlap) ?? null} onChange={({ detail }) => setOverlap(detail.selectedOption.value ?? "0")} />
        </FormField>
      )}
    </Dialog>
  );
}
