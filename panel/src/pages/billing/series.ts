import type { Report } from "../../api/billing";
import { sum } from "./decimal";

const NAMED = 8;
/** More bars of a stack than this cannot be told apart: the rest is one of its own. */

export type Series = { name: string | null; cost: string[] };
export type Chart = { days: string[]; series: Series[]; currency: string };

/** What to draw of a report by day and one more column: the costliest groups, the rest as one without a name, oldest day first. */
export function seriesOf(report: Report, nameOf: (group: string | null) => string, cumulative: boolean): Chart {
  const column = report.columns.find((each) => each !== "day") ?? "";
  const currency = report.totals[0]?.cost.currency ?? "";
  const days = daysOf(report);
  const costs = new Map<string, Map<string, string>>();
  for (const row of report.rows.filter((each) => each.cost.currency === currency)) {
    const group = nameOf(row.group[column] ?? null);
    const byDay = costs.get(group) ?? new Map<string, string>();
    const day = String(row.group.day);
    byDay.set(day, sum([byDay.get(day) ?? "0", row.cost.amount]));
    costs.set(group, byDay);
  }
  const total = (byDay: Map<string, string>) => Number(sum([...byDay.values()]));
  const ordered = [...costs].sort(([, one], [, other]) => total(other) - total(one));
  const kept = ordered.length > NAMED + 1 ? ordered.slice(0, NAMED) : ordered;
  const rest = ordered.slice(kept.length).map(([, byDay]) => byDay);
  const line = (name: string | null, of: Map<string, string>[]): Series => {
    const cost = days.map((day) => sum(of.map((byDay) => byDay.get(day) ?? "0")));
    return { name, cost: cumulative ? cost.map((_, index) => sum(cost.slice(0, index + 1))) : cost };
  };
  return { days, currency, series: [...kept.map(([name, byDay]) => line(name, [byDay])), ...(rest.length ? [line(null, rest)] : [])] };
}

/** The UTC days of a report's period, also those without cost. */
function daysOf(report: Report): string[] {
  const days: string[] = [];
  for (const day = new Date(report.since); day < new Date(report.until); day.setUTCDate(day.getUTCDate() + 1)) {
    days.push(day.toISOString().slice(0, 10));
  }
  return days;
}
