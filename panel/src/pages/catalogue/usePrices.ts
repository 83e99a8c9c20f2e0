import { useQuery } from "@tanstack/react-query";
import { spend } from "../../api/billing";
import type { Schemas } from "../../api/client";
import { priceAt, projectPrices, reservedSku, times, type Flavor } from "../../api/catalogue";
import { useProject } from "../../app/Project";

export type FlavorPrices = {
  perMinute: Schemas["Money"] | null;
  perHour: Schemas["Money"] | null;
  /** The list price of an hour, where the account has a contract price. */
  listPerHour: Schemas["Money"] | null;
  /** Of an hour of reserved capacity; null: reservations of it are not offered. */
  reservedPerHour: Schemas["Money"] | null;
};

/** What the project pays for a flavor in a region, in the currency of its account. */
export function usePrices(): { of: (flavor: Flavor, region: string) => FlavorPrices; ready: boolean } {
  const project = useProject();
  const prices = useQuery(projectPrices(project));
  const summary = useQuery({ ...spend({ project }), enabled: project !== "" });
  const currency = summary.data?.accrued.currency;
  const known = prices.data !== undefined && currency !== undefined;
  const ready = known || project === "" || prices.isError || summary.isError; // else list prices are shown
  const of = (flavor: Flavor, region: string) => {
    const now = Date.now();
    const at = (sku: string) => (currency ? priceAt(prices.data?.items ?? [], { sku, region, currency }, now) : undefined);
    const own = at(flavor.sku);
    const reserved = at(reservedSku(flavor.sku));
    const hour = 60 * flavor.machines;
    return {
      perMinute: own ? times(own.unit_price, flavor.machines) : known ? null : flavor.price_per_minute,
      perHour: own ? times(own.unit_price, hour) : known ? null : flavor.price_per_hour,
      listPerHour: own?.contract ? times(own.list_unit_price, hour) : null,
      reservedPerHour: reserved ? times(reserved.unit_price, hour) : null,
    };
  };
  return { of, ready };
}
