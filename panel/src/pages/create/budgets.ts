import type { Schemas } from "../../api/client";
import type { Draft } from "./draft";

type Budget = Schemas["Budget"];
/** The forecast of a budget's month as it is, and with a cluster that is in use until the month ends. */
export type Effect = { budget: Budget; before: number; after: number };

const HOUR_MS = 3_600_000;

/** The budgets that a cluster counts for, in the currency of its price, and what it makes of them. */
export function affected(budgets: Budget[], draft: Pick<Draft, "tags">, perHour: Schemas["Money"], now: Date): Effect[] {
  const ends = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1);
  const cost = Number(perHour.amount) * ((ends - now.getTime()) / HOUR_MS);
  const counts = ({ amount, tag }: Budget) =>
    amount.currency === perHour.currency && (!tag || draft.tags.some((each) => each.key === tag.key && each.value === tag.value));
  return budgets.filter(counts).map((budget) => {
    const before = Number((budget.forecast ?? budget.actual)?.amount ?? 0);
    return { budget, before, after: before + cost };
  });
}
