import { useQuery } from "@tanstack/react-query";
import { projectPrices, times } from "../../api/catalogue";
import { useProject } from "../../app/Project";
import { useFormat } from "../../i18n";

const MINUTES = 30 * 24 * 60;

/** What so many GiB cost in 30 days at the price that is in force in a region; undefined: there is none. */
export function useMonthly(sku: string, region: string | undefined, gib: number | null | undefined): string | undefined {
  const f = useFormat();
  const now = Date.now();
  const price = useQuery(projectPrices(useProject())).data?.items.find((each) => each.sku === sku && each.region === region
    && Date.parse(each.valid_from) <= now && (each.valid_to === null || now < Date.parse(each.valid_to)));
  return price && typeof gib === "number" ? f.money(times(price.unit_price, gib * MINUTES)) : undefined;
}
