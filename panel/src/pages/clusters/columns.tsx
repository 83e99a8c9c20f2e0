import type { TableProps } from "@cloudscape-design/components/table";
import { useQuery } from "@tanstack/react-query";
import { regions, type ClusterSummary } from "../../api/queries";
import { amount } from "../../components/amount";
import { ClusterState } from "../../components/ClusterState";
import { To } from "../../components/To";
import { useFormat, useStrings } from "../../i18n";

export function useClusterColumns(): TableProps.ColumnDefinition<ClusterSummary>[] {
  const { clusters: s, common } = useStrings();
  const f = useFormat();
  const region = useQuery(regions).data?.items ?? [];
  return [
    { id: "name", header: common.name, sortingField: "name", isRowHeader: true, cell: (each) => <To href={`/clusters/${each.id}`}>{each.name}</To> },
    { id: "state", header: common.state, cell: (each) => <ClusterState cluster={each} />, minWidth: 190 },
    { id: "flavor", header: s.flavor, cell: (each) => each.flavor },
    { id: "ipus", header: s.ipus, cell: (each) => f.number(each.ipus) },
    { id: "region", header: s.region, cell: (each) => region.find((other) => other.slug === each.region)?.name ?? each.region },
    {
      id: "price", header: amount(s.price),
      cell: (each) => amount(each.price_per_minute ? f.amount(Number(each.price_per_minute.amount) * 60, each.price_per_minute.currency) : common.none),
    },
    { id: "cost", header: amount(s.cost), cell: (each) => amount(each.billing.cost ? f.money(each.billing.cost) : common.none) },
    { id: "tags", header: s.tags, cell: (each) => Object.entries(each.tags).map(([name, value]) => `${name}=${value}`).join(", ") || common.none },
    { id: "created", header: common.created, sortingField: "created_at", cell: (each) => f.moment(each.created_at) },
  ];
}
