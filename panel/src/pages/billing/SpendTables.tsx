import Header from "@cloudscape-design/components/header";
import Table from "@cloudscape-design/components/table";
import type { Summary } from "../../api/billing";
import { useBillingScope } from "../../app/useBillingScope";
import { amount } from "../../components/amount";
import { Empty } from "../../components/Empty";
import { To } from "../../components/To";
import { useFormat, useStrings } from "../../i18n";

/** What each cluster cost in the month. */
export function ClusterSpend({ summary }: { summary: Summary }) {
  const { billing: s, common } = useStrings();
  const f = useFormat();
  const mine = "project" in useBillingScope();
  return (
    <Table
      header={<Header variant="h2" counter={`(${f.number(summary.cluster_count)})`}>{s.clusters}</Header>}
      items={summary.clusters}
      trackBy="cluster_id"
      ariaLabels={{ tableLabel: s.clusters }}
      columnDefinitions={[
        { id: "name", header: common.name, isRowHeader: true, cell: (each) => (mine && each.state && each.state !== "deleted" ? <To href={`/clusters/${each.cluster_id}`}>{each.name}</To> : each.name) },
        { id: "flavor", header: s.flavor, cell: (each) => each.flavor },
        { id: "minutes", header: s.minutes, cell: (each) => f.number(each.minutes) },
        { id: "accrued", header: amount(s.cost), cell: (each) => amount(f.money(each.accrued)) },
        { id: "rate", header: amount(s.perHour), cell: (each) => amount(f.money(each.per_hour)) },
        { id: "forecast", header: amount(s.forecast), cell: (each) => amount(f.money(each.forecast)) },
        { id: "previous", header: amount(s.previous), cell: (each) => amount(f.money(each.previous)) },
      ]}
      empty={<Empty title={s.noCost} text={s.noCostText} />}
    />
  );
}

/** What the clusters of each tag cost in the month; nothing without tags. */
export function TagSpend({ summary }: { summary: Summary }) {
  const s = useStrings().billing;
  const f = useFormat();
  if (!summary.tags.length) return null;
  return (
    <Table
      header={<Header variant="h2" description={s.tagsText}>{s.tags}</Header>}
      items={summary.tags}
      ariaLabels={{ tableLabel: s.tags }}
      columnDefinitions={[
        { id: "tag", header: s.tag, isRowHeader: true, cell: (each) => `${each.key}=${each.value}` },
        { id: "accrued", header: amount(s.cost), cell: (each) => amount(f.money(each.accrued)) },
        { id: "forecast", header: amount(s.forecast), cell: (each) => amount(f.money(each.forecast)) },
        { id: "previous", header: amount(s.previous), cell: (each) => amount(f.money(each.previous)) },
      ]}
    />
  );
}
