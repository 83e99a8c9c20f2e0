import type { PropertyFilterProps } from "@cloudscape-design/components/property-filter";
import { useQuery } from "@tanstack/react-query";
import type { Schemas } from "../../api/client";
import { flavors, regions, type ClusterFilter, type ClusterSummary } from "../../api/queries";
import { useStrings } from "../../i18n";

/** The list's parameters for the filter's tokens. Several states are any of them, several tags all; of what the API takes once, the last counts. */
export function filterOf(tokens: readonly PropertyFilterProps.Token[]): ClusterFilter {
  const last = (name?: string) => tokens.filter((each) => each.propertyKey === name).at(-1)?.value as string | undefined;
  const state = tokens.filter((each) => each.propertyKey === "state").map((each) => each.value as Schemas["ClusterState"]);
  const tags = tokens.filter((each) => each.propertyKey === "tag").map((each) => {
    const [key = "", ...value] = String(each.value).split("=");
    return [`tag.${key}`, value.join("=")] as const;
  });
  return { ...Object.fromEntries(tags), state: state.length ? state : undefined, region: last("region"), flavor: last("flavor"), q: last() };
}

/** What can be filtered by; the flavors are many, and are read when somebody is about to: `asked`. Tags are those of the clusters `seen`. */
export function useFilterOptions(asked: boolean, seen: readonly ClusterSummary[]): Pick<PropertyFilterProps, "filteringProperties" | "filteringOptions"> {
  const { clusters: s, common, states } = useStrings();
  const region = useQuery(regions).data?.items ?? [];
  const flavor = useQuery({ ...flavors(), enabled: asked }).data?.items ?? [];
  const tags = new Set(seen.flatMap((each) => Object.entries(each.tags).map(([name, value]) => `${name}=${value}`)));
  const property = (key: string, label: string) => ({ key, propertyLabel: label, groupValuesLabel: label, operators: ["="] as const });
  return {
    filteringProperties: [property("state", common.state), property("region", s.region), property("flavor", s.flavor), property("tag", s.tag)],
    filteringOptions: [
      ...Object.entries(states).map(([value, label]) => ({ propertyKey: "state", value, label })),
      ...region.map((each) => ({ propertyKey: "region", value: each.slug, label: each.name })),
      ...flavor.map((each) => ({ propertyKey: "flavor", value: each.name, label: each.name })),
      ...[...tags].sort().map((value) => ({ propertyKey: "tag", value, label: value })),
    ],
  };
}
