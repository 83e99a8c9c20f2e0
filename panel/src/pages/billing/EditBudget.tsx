import AttributeEditor from "@cloudscape-design/components/attribute-editor";
import ColumnLayout from "@cloudscape-design/components/column-layout";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import RadioGroup from "@cloudscape-design/components/radio-group";
import Select from "@cloudscape-design/components/select";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { createBudget, patchBudget, spend, type Budget } from "../../api/billing";
import { ApiError, type Schemas } from "../../api/client";
import { useFlash } from "../../app/Flashes";
import { useProject } from "../../app/Project";
import { Consequences } from "../../components/Consequences";
import { Dialog } from "../../components/Dialog";
import { Field } from "../../components/Field";
import { MoneyField } from "../../components/MoneyField";
import { useChange } from "../../components/useChange";
import { useFormat, useStrings } from "../../i18n";
import { useBudgetStrings } from "../../i18n/money";

type Threshold = { percent: string; on: Schemas["BudgetThreshold"]["on"]; action: "report" | NonNullable<Schemas["BudgetThreshold"]["action"]> };

const USUAL: Threshold[] = [{ percent: "80", on: "actual", action: "report" }, { percent: "100", on: "forecast", action: "report" }];
const entered = (budget: Budget): Threshold[] => budget.thresholds.map((each) => ({ percent: String(each.percent), on: each.on, action: each.action ?? "report" }));

/** Creates a budget of the project or of a tag, or changes one. */
export function EditBudget({ budget, onClose }: { budget?: Budget; onClose: () => void }) {
  const { billing: b, common } = useStrings();
  const s = useBudgetStrings();
  const flash = useFlash();
  const project = useProject();
  const [seen] = useState(budget);
  const [name, setName] = useState(seen?.name ?? "");
  const f = useFormat();
  const [typed, setTyped] = useState(f.decimal(seen?.amount.amount ?? ""));
  const [tagged, setTagged] = useState(false);
  const [tag, setTag] = useState({ key: "", value: "" });
  const [thresholds, setThresholds] = useState(() => (seen ? entered(seen) : USUAL));
  const month = useQuery(spend({ project })).data;
  const currency = month?.accrued.currency ?? seen?.amount.currency ?? "";
  const amount = f.fromDecimal(typed, f.minorDigits(currency));
  const figures = seen ?? (month && !tagged ? { actual: month.accrued, forecast: month.forecast } : undefined);
  const run = useChange(
    async () => {
      const wanted = {
        name: name.trim(),
        amount: { amount: amount ?? "", currency: seen?.amount.currency ?? currency },
        thresholds: thresholds.map((each) => ({ percent: Number(each.percent), on: each.on, action: each.action === "report" ? null : each.action })),
      };
      return seen ? patchBudget(project, seen, wanted) : createBudget(project, { ...wanted, tag: tagged ? tag : null });
    },
    (saved) => {
      flash({ type: "success", content: s.saved(saved.name) });
      onClose();
    },
  );
  const conflict = run.error instanceof ApiError && run.error.status === 412 ? new ApiError(412, run.error.code, s.changed, run.error.requestId) : null;
  return (
    <Dialog
      large
      title={seen ? s.edit(seen.name) : s.create}
      submit={seen ? common.save : common.create}
      ready={name.trim() !== "" && amount !== null && currency !== "" && thresholds.every((each) => /^\d+$/.test(each.percent)) && (!tagged || tag.key !== "")}
      pending={run.isPending}
      error={conflict ?? run.error}
      onSubmit={() => run.mutate()}
      onClose={onClose}
    >
      <Field at="/name" label={common.name}><Input value={name} onChange={({ detail }) => setName(detail.value)} autoComplete={false} autoFocus /></Field>
      <MoneyField at="/amount" label={s.monthly(currency)} description={s.monthlyText} currency={currency} value={typed} onChange={setTyped} />
      {!seen && (
        <FormField label={s.covers}>
          <RadioGroup
            value={tagged ? "tag" : "project"}
            onChange={({ detail }) => setTagged(detail.value === "tag")}
            items={[{ value: "project", label: s.scopes.project }, { value: "tag", label: s.scopes.tag }]}
          />
        </FormField>
      )}
      {tagged && (
        <ColumnLayout columns={2}>
          <Field at="/tag/key" label={b.tag}><Input value={tag.key} onChange={({ detail }) => setTag({ ...tag, key: detail.value })} /></Field>
          <Field at="/tag/value" label={s.tagValue}><Input value={tag.value} onChange={({ detail }) => setTag({ ...tag, value: detail.value })} /></Field>
        </ColumnLayout>
      )}
      <ThresholdEditor thresholds={thresholds} onChange={setThresholds} />
      <AtOnce thresholds={thresholds} amount={amount} figures={figures} />
    </Dialog>
  );
}

type Figures = Pick<Budget, "actual" | "forecast">;

/** What saving does within a minute, because a threshold is reached already. */
function AtOnce({ thresholds, amount, figures }: { thresholds: Threshold[]; amount: string | null; figures: Figures | undefined }) {
  const s = useBudgetStrings();
  const f = useFormat();
  if (amount === null || !figures) return null;
  const lines = thresholds.flatMap(({ percent, on, action }) => {
    const figure = figures[on];
    if (!figure || !percent || Number(figure.amount) < (Number(amount) * Number(percent)) / 100) return [];
    const does = action === "report" ? s.isReported : s.actions[action];
    return [s.reachedNow(f.percent(Number(percent) / 100), s.on[on], f.money(figure), does)];
  });
  return lines.length > 0 && <Consequences type="warning" lines={lines} />;
}

function ThresholdEditor({ thresholds, onChange }: { thresholds: Threshold[]; onChange: (thresholds: Threshold[]) => void }) {
  const { common } = useStrings();
  const s = useBudgetStrings();
  const change = (index: number, part: Partial<Threshold>) => onChange(thresholds.map((each, at) => (at === index ? { ...each, ...part } : each)));
  const on = Object.entries(s.on).map(([value, label]) => ({ value, label }));
  const actions = Object.entries(s.actionNames).map(([value, label]) => ({ value, label }));
  return (
    <Field at="/thresholds" label={s.thresholds} description={s.thresholdsText} stretch>
      <AttributeEditor
        items={thresholds}
        empty={s.noThresholds}
        addButtonText={s.addThreshold}
        removeButtonText={common.remove}
        onAddButtonClick={() => onChange([...thresholds, { percent: "", on: "actual", action: "report" }])}
        onRemoveButtonClick={({ detail }) => onChange(thresholds.filter((_, at) => at !== detail.itemIndex))}
        definition={[
          { label: s.percent, control: (item, index) => <Input value={item.percent} inputMode="numeric" onChange={({ detail }) => change(index, { percent: detail.value })} /> },
          {
            label: s.of,
            control: (item, index) => (
              <Select options={on} selectedOption={on.find((each) => each.value === item.on) ?? null} onChange={({ detail }) => change(index, { on: detail.selectedOption.value as Threshold["on"] })} />
            ),
          },
          {
            label: s.then,
            control: (item, index) => (
              <Select options={actions} selectedOption={actions.find((each) => each.value === item.action) ?? null}
                onChange={({ detail }) => change(index, { action: detail.selectedOption.value as Threshold["action"] })} />
            ),
          },
        ]}
      />
    </Field>
  );
}
