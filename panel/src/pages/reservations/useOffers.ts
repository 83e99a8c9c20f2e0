import { useQuery } from "@tanstack/react-query";
import type { Schemas } from "../../api/client";
import type { Flavor } from "../../api/catalogue";
import { flavors, regions } from "../../api/queries";
import { usePrices } from "../catalogue/usePrices";

export type Offer = { region: string; flavor: Flavor; perHour: Schemas["Money"] };

/** What can be reserved: the flavors with a price for reserved minutes, by region; undefined while that is not known. */
export function useOffers(): Offer[] | undefined {
  const places = useQuery(regions).data?.items;
  const sold = useQuery(flavors()).data?.items;
  const prices = usePrices();
  if (!places || !sold || !prices.ready) return undefined;
  return places.flatMap((place) => sold
    .filter((flavor) => flavor.regions.includes(place.slug))
    .flatMap((flavor) => {
      const perHour = prices.of(flavor, place.slug).reservedPerHour;
      return perHour ? [{ region: place.slug, flavor, perHour }] : [];
    }));
}
