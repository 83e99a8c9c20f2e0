import Box from "@cloudscape-design/components/box";
import Input from "@cloudscape-design/components/input";
import { useState } from "react";
import { api, type Schemas } from "../../api/client";
import { useFlash } from "../../app/Flashes";
import { Dialog } from "../../components/Dialog";
import { Field } from "../../components/Field";
import { useChange } from "../../components/useChange";
import { useQuotaWords } from "../../components/useQuotaWords";
import { useFormat, useStrings } from "../../i18n";

export type Decision = "grant" | "decline";

type Props = { decision: Decision; request: Schemas["OperatorQuotaRequest"]; onClose: () => void };

/** Raises a quota, perhaps to less than what was asked for, or says why it stays. */
export function QuotaDecision({ decision, request, onClose }: Props) {
  const { quotas: s } = useStrings();
  const f = useFormat();
  const words = useQuotaWords();
  const flash = useFlash();
  const grants = decision === "grant";
  const [limit, setLimit] = useState(String(request.limit));
  const [answer, setAnswer] = useState("");
  const path = { params: { path: { quota_request: request.id } } };
  const run = useChange(
    async () => {
      if (grants) await api.POST("/v1/operator/quota-requests/{quota_request}:grant", { ...path, body: { limit: Number(limit), answer: answer.trim() || null } });
      else await api.POST("/v1/operator/quota-requests/{quota_request}:decline", { ...path, body: { reason: answer.trim() } });
    },
    () => {
      flash({ type: "success", content: grants ? s.raised(request.project, f.number(Number(limit))) : s.declined(request.project) });
      onClose();
    },
    "operator",
  );
  return (
    <Dialog
      title={`${s.decide[decision]}: ${request.project}`}
      submit={s.decide[decision]}
      ready={grants ? /^\d+$/.test(limit) : answer.trim() !== ""}
      pending={run.isPending}
      error={run.error}
      onSubmit={() => run.mutate()}
      onClose={onClose}
    >
      <Box>{words(request)}</Box>
      <Box color="text-body-secondary">{request.reason}</Box>
      {grants && (
        <Field at="/limit" label={s.newLimit} description={s.between(f.number(request.present_limit), f.number(request.limit))}>
          <Input value={limit} onChange={({ detail }) => setLimit(detail.value)} type="number" inputMode="numeric" />
        </Field>
      )}
      <Field at="/answer" label={grants ? s.answerOptional : s.answer} description={s.answerHelp}>
        <Input value={answer} onChange={({ detail }) => setAnswer(detail.value)} />
      </Field>
    </Dialog>
  );
}
