import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import Modal from "@cloudscape-design/components/modal";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, type Schemas } from "../../api/client";
import { useFlash } from "../../app/Flashes";
import { Failure } from "../../components/Failure";
import { useFormat, useStrings } from "../../i18n";

export type Decision = "grant" | "decline";

type Props = { decision: Decision; request: Schemas["OperatorQuotaRequest"]; onClose: () => void };

/** Raises a quota, perhaps to less than what was asked for, or says why it stays. */
export function QuotaDecision({ decision, request, onClose }: Props) {
  const { common, quotas: s } = useStrings();
  const f = useFormat();
  const flash = useFlash();
  const cache = useQueryClient();
  const grants = decision === "grant";
  const [limit, setLimit] = useState(String(request.limit));
  const [answer, setAnswer] = useState("");
  const path = { params: { path: { quota_request: request.id } } };
  const run = useMutation({
    mutationFn: async () => {
      if (grants) await api.POST("/v1/operator/quota-requests/{quota_request}:grant", { ...path, body: { limit: Number(limit), answer: answer.trim() || null } });
      else await api.POST("/v1/operator/quota-requests/{quota_request}:decline", { ...path, body: { reason: answer.trim() } });
    },
    onSuccess: () => {
      flash({ type: "success", content: grants ? s.raised(request.project, f.number(Number(limit))) : s.declined(request.project) });
      onClose();
    },
    onSettled: () => cache.invalidateQueries({ predicate: (query) => query.queryKey[0] === "operator" }),
  });
  return (
    <Modal
      visible
      header={`${s.decide[decision]}: ${request.project}`}
      closeAriaLabel={common.close}
      onDismiss={onClose}
      footer={
        <Box float="right">
          <SpaceBetween direction="horizontal" size="xs">
            <Button variant="link" onClick={onClose}>{common.cancel}</Button>
            <Button variant="primary" disabled={grants ? !/^\d+$/.test(limit) : !answer.trim()} loading={run.isPending} onClick={() => run.mutate()}>{s.decide[decision]}</Button>
          </SpaceBetween>
        </Box>
      }
    >
      <SpaceBetween size="m">
        <Box>{s.machinesIn(f.number(request.limit), request.machine_type, request.region)}</Box>
        <Box color="text-body-secondary">{request.reason}</Box>
        {grants && (
          <FormField label={s.newLimit} description={s.between(f.number(request.present_limit), f.number(request.limit))}>
            <Input value={limit} onChange={({ detail }) => setLimit(detail.value)} type="number" inputMode="numeric" />
          </FormField>
        )}
        <FormField label={grants ? s.answerOptional : s.answer} description={s.answerHelp}>
          <Input value={answer} onChange={({ detail }) => setAnswer(detail.value)} />
        </FormField>
        <Failure error={run.error} />
      </SpaceBetween>
    </Modal>
  );
}
