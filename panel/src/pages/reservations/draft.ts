import type { Schemas } from "../../api/client";
import type { Reserving } from "../../api/reservations";

export type Draft = { name: string; region: string; flavor: string; count: string; starts: string; ends: string };

const DAY_MS = 86_400_000;
const NAME = /^[a-z]([a-z0-9-]*[a-z0-9])?$/;

/** A day that begins at eight o'clock in two days: soon, and still to be cancelled. */
export function first(now: Date, region: string, flavor: string): Draft {
  const starts = new Date(now.getFullYear(), now.getMonth(), now.getDate() + 2, 8);
  return { name: "", region, flavor, count: "1", starts: starts.toISOString(), ends: new Date(starts.getTime() + DAY_MS).toISOString() };
}

/** The request whose price the draft has; null while a part is missing. A price does not depend on the name. */
export function pricedOf({ region, flavor, count, starts, ends }: Draft): Reserving | null {
  if (!region || !flavor || !/^[1-9]\d*$/.test(count) || !starts || !ends) return null;
  return { name: "estimate", region, flavor, count: Number(count), starts_at: starts, ends_at: ends };
}

export const named = (draft: Draft) => NAME.test(draft.name);

/** How many clusters could be reserved instead, for the room there is and the quota that is left. */
export function fitting(found: Schemas["ReservationEstimate"], count: number): number {
  const machines = found.machines / count;
  return Math.min(found.capacity.fits, Math.floor(Math.max(0, found.quota.limit - found.quota.used) / machines), count);
}
