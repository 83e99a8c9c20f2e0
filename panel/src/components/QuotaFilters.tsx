import type { Schemas } from "../api/client";
import { useStrings } from "../i18n";
import { Choice, optionsOf } from "./Choice";
import { useTypeWords } from "./useQuotaWords";
import { useListView } from "./useListView";

const FILTERS = ["region", "machine_type"] as const;
const ORDERS = ["region", "-region", "machine_type", "-machine_type", "used", "-used", "limit", "-limit"] as const;

/** What is shown of a project's quotas, and the API's query for it; `list` as in `useListView`. */
export function useQuotaView(list = "") {
  const view = useListView(FILTERS, ORDERS, list);
  return { view, query: { region: view.value("region"), machine_type: view.value("machine_type"), order: view.order } };
}

/** Filters of quotas by the regions and types that there are any of. */
export function QuotaFilters({ view, quotas }: { view: ReturnType<typeof useQuotaView>["view"]; quotas: Schemas["Quota"][] | undefined }) {
  const { common, quotas: s } = useStrings();
  const words = useTypeWords();
  const choice = (label: string, filter: (typeof FILTERS)[number]) => {
    const known = new Set(quotas?.map((each) => each[filter]));
    return <Choice label={label} value={view.value(filter) ?? ""} options={optionsOf(common.all, [...known].toSorted(), words)} onChange={(value) => view.filter(filter, value)} />;
  };
  return <>{choice(s.region, "region")}{choice(s.type, "machine_type")}</>;
}

/** Names a quota among those of a project. */
export const quotaKey = (each: Schemas["Quota"]) => `${each.region} ${each.machine_type}`;
