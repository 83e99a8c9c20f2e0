import type { Schemas } from "../../api/client";

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/** Of each flavor that the cluster had: how many hours of each UTC day it was in use, and what that cost. */
export type Daily = { flavor: string; hours: number[]; cost: number[] };

/** The last `count` UTC days until a time, the oldest first. */
export function daysUntil(until: string, count: number): string[] {
  const last = Math.floor(Date.parse(until) / DAY_MS);
  return Array.from({ length: count }, (_, index) => new Date((last - count + 1 + index) * DAY_MS).toISOString().slice(0, 10));
}

/** The runs of neighbouring steps in which a value was observed: a line is drawn through each, and none across a gap. */
export function runs<Point extends { at: string }>(metrics: { step: number; points: Point[] }, valueOf: (point: Point) => number | null): { x: Date; y: number }[][] {
  const found: { x: Date; y: number }[][] = [];
  let run: { x: Date; y: number }[] | undefined;
  for (const point of metrics.points) {
    const [x, y] = [new Date(point.at), valueOf(point)];
    if (y === null) {
      run = undefined;
      continue;
    }
    if (!run) found.push((run = []));
    else run.pop();
    // A value holds until the end of its step, so that a single one is seen, too.
    run.push({ x, y }, { x: new Date(x.getTime() + metrics.step * 1000), y });
  }
  return found;
}

/** Usage by day: a slice has one price, so that its cost is spread as its time is. */
export function daily(slices: Schemas["UsageSlice"][], days: string[]): Daily[] {
  const found = new Map<string, Daily>();
  for (const slice of slices) {
    const [from, to] = [Date.parse(slice.started_at), Date.parse(slice.ended_at)];
    days.forEach((day, index) => {
      const start = Date.parse(day);
      const inside = Math.min(to, start + DAY_MS) - Math.max(from, start);
      if (inside <= 0) return;
      const of = found.get(slice.flavor) ?? { flavor: slice.flavor, hours: days.map(() => 0), cost: days.map(() => 0) };
      of.hours[index] = (of.hours[index] ?? 0) + inside / HOUR_MS;
      of.cost[index] = (of.cost[index] ?? 0) + (Number(slice.cost.amount) * inside) / (to - from);
      found.set(slice.flavor, of);
    });
  }
  return [...found.values()];
}
