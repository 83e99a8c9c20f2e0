import Header from "@cloudscape-design/components/header";
import Table from "@cloudscape-design/components/table";
import type { ClusterSummary } from "../../api/queries";
import { amount } from "../../components/amount";
import { ClusterState } from "../../components/ClusterState";
import { To } from "../../components/To";
import { useFormat, useStrings } from "../../i18n";

export function ClustersNow({ clusters }: { clusters: ClusterSummary[] }) {
  const { common, clusters: columns, home: s } = useStrings();
  const f = useFormat();
  return (
    <Table
      variant="container"
      trackBy="id"
      items={clusters}
      ariaLabels={{ tableLabel: s.clusters }}
      header={<Header variant="h2" actions={<To href="/clusters">{s.all}</To>}>{s.clusters}</Header>}
      columnDefinitions={[
        { id: "name", header: common.name, isRowHeader: true, cell: (each) => <To href={`/clusters/${each.id}`}>{each.name}</To> },
        { id: "state", header: common.state, cell: (each) => <ClusterState cluster={each} />, minWidth: 190 },
        { id: "ipus", header: columns.ipus, cell: (each) => f.number(each.ipus) },
        { id: "cost", header: amount(columns.cost), cell: (each) => amount(each.billing.cost ? f.money(each.billing.cost) : common.none) },
      ]}
    />
  );
}
