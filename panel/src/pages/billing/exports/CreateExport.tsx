import ColumnLayout from "@cloudscape-design/components/column-layout";
import DatePicker from "@cloudscape-design/components/date-picker";
import FormField from "@cloudscape-design/components/form-field";
import RadioGroup from "@cloudscape-design/components/radio-group";
import Select from "@cloudscape-design/components/select";
import { useState } from "react";
import type { Schemas } from "../../../api/client";
import { createExport } from "../../../api/exports";
import { useFlash } from "../../../app/Flashes";
import { useBillingChange, useBillingScope } from "../../../app/useBillingScope";
import { Dialog } from "../../../components/Dialog";
import { useFormat, useStrings } from "../../../i18n";
import { useExportStrings } from "../../../i18n/exports";
import { lastMonths } from "../months";
import { ConnectionField } from "./ConnectionField";
import { FileFields, USUAL_FILE } from "./FileFields";

const DAY_MS = 86_400_000;

/** Asks for a file of a month, or of some days. */
export function CreateExport({ onClose }: { onClose: () => void }) {
  const { common } = useStrings();
  const s = useExportStrings();
  const f = useFormat();
  const flash = useFlash();
  const scope = useBillingScope();
  const months = lastMonths(new Date().toISOString()).map((value) => ({ value, label: f.month(`${value}-01T00:00:00Z`) }));
  const [file, setFile] = useState(USUAL_FILE);
  const [of, setOf] = useState("month");
  const [month, setMonth] = useState(months[1]?.value ?? "");
  const [first, setFirst] = useState("");
  const [last, setLast] = useState("");
  const [connection, setConnection] = useState("");
  const run = useBillingChange((wanted: Schemas["AccountExportCreate"]) => createExport(scope, wanted), () => {
    flash({ type: "success", content: s.requested });
    onClose();
  });
  const period = () => (of === "month" ? { month } : { since: first, until: new Date(Date.parse(last) + DAY_MS).toISOString().slice(0, 10) });
  return (
    <Dialog
      title={s.create}
      submit={s.make}
      ready={of === "month" ? month !== "" : first !== "" && last !== ""}
      pending={run.isPending}
      error={run.error}
      onSubmit={() => run.mutate({ ...file, ...period(), connection: connection || null })}
      onClose={onClose}
    >
      <FileFields file={file} onChange={setFile} />
      <FormField label={s.period}>
        <RadioGroup value={of} onChange={({ detail }) => setOf(detail.value)} items={[{ value: "month", label: s.aMonth }, { value: "days", label: s.someDays }]} />
      </FormField>
      {of === "month" ? (
        <FormField label={s.month} description={s.monthText}>
          <Select options={months} selectedOption={months.find((each) => each.value === month) ?? null} onChange={({ detail }) => setMonth(detail.selectedOption.value ?? "")} />
        </FormField>
      ) : (
        <ColumnLayout columns={2}>
          <FormField label={s.firstDay}>
            <DatePicker value={first} placeholder="YYYY/MM/DD" openCalendarAriaLabel={() => `${s.firstDay}: ${common.calendar}`} onChange={({ detail }) => setFirst(detail.value)} />
          </FormField>
          <FormField label={s.lastDay}>
            <DatePicker value={last} placeholder="YYYY/MM/DD" openCalendarAriaLabel={() => `${s.lastDay}: ${common.calendar}`} onChange={({ detail }) => setLast(detail.value)} />
          </FormField>
        </ColumnLayout>
      )}
      <ConnectionField optional label={s.deliverTo} value={connection} onChange={setConnection} />
    </Dialog>
  );
}
