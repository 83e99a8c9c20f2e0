import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Input from "@cloudscape-design/components/input";
import RadioGroup from "@cloudscape-design/components/radio-group";
import { useState } from "react";
import type { Schemas } from "../../api/client";
import { answerFaultReport } from "../../api/operator";
import { useFlash } from "../../app/Flashes";
import { Dialog } from "../../components/Dialog";
import { Field } from "../../components/Field";
import { useChange } from "../../components/useChange";
import { useOperatedStrings } from "../../i18n/operated";

export type Answer = "confirm" | "dismiss";
type Code = NonNullable<Schemas["FaultReportConfirm"]["code"]>;
type Props = { answer: Answer; report: Schemas["OperatorFaultReport"]; onClose: () => void };

/** Confirms a fault that a customer reported, or says why it is none. */
export function AnswerFault({ answer, report, onClose }: Props) {
  const s = useOperatedStrings();
  const flash = useFlash();
  const codes: Code[] = report.kind === "machine" ? ["bmc_critical", "link_down"] : ["host_failed"];
  const [code, setCode] = useState<Code>(codes[0] ?? "bmc_critical");
  const [text, setText] = useState("");
  const run = useChange(
    () => answerFaultReport(answer, report.id, text.trim(), code),
    () => {
      flash({ type: "success", content: s.answered(report.name) });
      onClose();
    },
    "operator",
  );
  return (
    <Dialog title={s.act(s[answer], report.name)} submit={s[answer]} ready={text.trim() !== ""} pending={run.isPending} error={run.error} onSubmit={() => run.mutate()} onClose={onClose}>
      <Box>{report.description}</Box>
      <Alert type={answer === "confirm" ? "warning" : "info"}>{answer === "confirm" ? s.confirmText : s.dismissText}</Alert>
      {answer === "confirm" && (
        <Field at="/code" label={s.fault}>
          <RadioGroup value={code} onChange={({ detail }) => setCode(detail.value as Code)} items={codes.map((value) => ({ value, label: s.codes[value] ?? value }))} />
        </Field>
      )}
      <Field at="/answer" label={s.answer} description={s.answerHelp}>
        <Input value={text} onChange={({ detail }) => setText(detail.value)} autoComplete={false} />
      </Field>
    </Dialog>
  );
}
