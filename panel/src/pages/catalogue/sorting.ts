import type { Flavor } from "../../api/catalogue";

/** What the list of flavors can be sorted by. */
export const SORTED = ["name", "ipus", "machines", "ai_pflops", "in_processor_memory_gb", "price"] as const;
export type Sorted = (typeof SORTED)[number];

/** The flavors in an order. The API has all of a region in one answer, which is short. Those without a price come last. */
export function sorted(flavors: Flavor[], by: Sorted, descending: boolean, price: (flavor: Flavor) => number | undefined): Flavor[] {
  const sign = descending ? -1 : 1;
  return flavors.toSorted((one, other) => {
    if (by === "name") return sign * one.name.localeCompare(other.name, "en", { numeric: true });
    if (by !== "price") return sign * (one[by] - other[by]);
    const [first, second] = [price(one), price(other)];
    if (first === undefined || second === undefined) return Number(first === undefined) - Number(second === undefined);
    return sign * (first - second);
  });
}
