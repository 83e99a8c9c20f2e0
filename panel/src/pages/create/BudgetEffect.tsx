import Alert from "@cloudscape-design/components/alert";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useQuery } from "@tanstack/react-query";
import { budgets } from "../../api/billing";
import type { Schemas } from "../../api/client";
import { useMay, useProject } from "../../app/Project";
import { useFormat, useStrings } from "../../i18n";
import { affected, type Effect } from "./budgets";
import type { Draft } from "./draft";

/** What the cluster makes of the month's budgets that it counts for, if it is in use until the month ends. */
export function BudgetEffect({ draft, perHour }: { draft: Draft; perHour: Schemas["Money"] | null }) {
  const s = useStrings().create;
  const f = useFormat();
  const project = useProject();
  const may = useMay("billing:read");
  const { data } = useQuery({ ...budgets({ project }), enabled: may });
  const effects = perHour && data ? affected(data.items, draft, perHour, new Date()) : [];
  if (effects.length === 0) return null;
  const over = effects.filter((each) => each.after > Number(each.budget.amount.amount));
  const money = (amount: number, effect: Effect) => f.money({ amount: String(amount), currency: effect.budget.amount.currency });
  return (
    <SpaceBetween size="s">
      <KeyValuePairs
        columns={effects.length > 1 ? 2 : 1}
        items={effects.map((each) => ({
          label: s.budget(each.budget.name, f.money(each.budget.amount)),
          value: s.budgetEffect(money(each.before, each), money(each.after, each), f.percent(each.after / Number(each.budget.amount.amount))),
        }))}
      />
      {over.map((each) => (
        <Alert key={each.budget.id} type="warning">{each.budget.refuses_creates ? s.budgetRefuses(each.budget.name) : s.budgetOver(each.budget.name)}</Alert>
      ))}
    </SpaceBetween>
  );
}
