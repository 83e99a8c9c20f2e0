import { expect, test } from "vitest";
import { daily, daysUntil, runs } from "../pages/cluster/usage";
import type { Report } from "../api/billing";
import { sum } from "../pages/billing/decimal";
import { seriesOf } from "../pages/billing/series";

const euro = (amount: string) => ({ amount, currency: "EUR" });
const row = (day: string, cluster: string, cost: string) => ({
  group: { day, cluster }, cost: euro(cost), list_cost: euro(cost), minutes: 1, machine_minutes: 1, credited_machine_minutes: 0,
});
const report = (rows: Report["rows"]): Report => ({
  columns: ["day", "cluster"], since: "2026-10-30T00:00:00Z", until: "2026-11-01T05:00:00Z", posted_until: null, rows,
  totals: [{ cost: euro("1"), list_cost: euro("1"), minutes: 1, machine_minutes: 1, credited_machine_minutes: 0 }],
});

test("decimals are added exactly, whatever their digits and signs", () => {
  expect(sum(["0.1", "0.2"])).toBe("0.3");
  expect(sum(["-1.05", "1"])).toBe("-0.05");
  expect(sum(["9007199254740993", "0.0000001"])).toBe("9007199254740993.0000001");
  expect(sum([])).toBe("0");
});

test("a chart has every day of the period, and costs added up over groups of one name", () => {
  const rows = [row("2026-10-30", "a", "0.10"), row("2026-10-30", "b", "0.20"), row("2026-11-01", "a", "0.30")];
  expect(seriesOf(report(rows), String, false)).toEqual({
    days: ["2026-10-30", "2026-10-31", "2026-11-01"], currency: "EUR",
    series: [{ name: "a", cost: ["0.10", "0.00", "0.30"].map((each) => each.replace("0.00", "0")) }, { name: "b", cost: ["0.20", "0", "0"] }],
  });
  expect(seriesOf(report(rows), () => "bert", true).series).toEqual([{ name: "bert", cost: ["0.30", "0.30", "0.60"] }]);
});

test("what is too small to be told apart is drawn as one", () => {
  const rows = Array.from({ length: 12 }, (_, index) => row("2026-10-31", `c${index}`, String(index + 1)));
  const { series } = seriesOf(report(rows), String, false);
  expect(series).toHaveLength(9);
  expect(series.at(-1)).toEqual({ name: null, cost: ["0", "10", "0"] });
});

test("a time in use across midnight counts on both days, with its cost", () => {
  const days = daysUntil("2026-05-03T01:30:00Z", 3);
  expect(days).toEqual(["2026-05-01", "2026-05-02", "2026-05-03"]);
  const slice = (flavor: string, started_at: string, ended_at: string, amount: string) => ({ flavor, started_at, ended_at, cost: { amount, currency: "EUR" } });
  const found = daily([
    slice("pod4", "2026-04-30T23:00:00Z", "2026-05-01T01:00:00Z", "2.00"),
    slice("pod4", "2026-05-02T22:00:00Z", "2026-05-03T01:00:00Z", "3.00"),
    slice("pod8", "2026-05-03T01:00:00Z", "2026-05-03T01:30:00Z", "1.00"),
  ] as never, days);
  expect(found).toEqual([
    { flavor: "pod4", hours: [1, 2, 1], cost: [1, 2, 1] },
    { flavor: "pod8", hours: [0, 0, 0.5], cost: [0, 0, 1] },
  ]);
});

test("a line of observed values has a gap where nothing was observed", () => {
  const nothing = {
    observed_at: null, machines: null, machines_answered: null, attached_ipus: null, utilisation_percent: null, power_watts: null,
    temperature_celsius: null, link_errors: null, partition_uptime_percent: null, cpu_percent: null, memory_used_bytes: null, memory_bytes: null,
  };
  const at = (minute: number) => new Date(Date.UTC(2026, 4, 4, 13, minute));
  const points = [0, null, 50, 70].map((utilisation_percent, minute) => ({ ...nothing, at: at(minute).toISOString(), utilisation_percent }));
  const metrics = { cluster: "", since: at(0).toISOString(), until: at(4).toISOString(), step: 60, points };
  expect(runs(metrics, (each) => each.utilisation_percent)).toEqual([
    [{ x: at(0), y: 0 }, { x: at(1), y: 0 }],
    [{ x: at(2), y: 50 }, { x: at(3), y: 70 }, { x: at(4), y: 70 }],
  ]);
  expect(runs(metrics, (each) => each.power_watts)).toEqual([]);
});
