import Box from "@cloudscape-design/components/box";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import MixedLineBarChart, { type MixedLineBarChartProps } from "@cloudscape-design/components/mixed-line-bar-chart";
import SegmentedControl from "@cloudscape-design/components/segmented-control";
import Select from "@cloudscape-design/components/select";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { dailyCost, type Summary } from "../../api/billing";
import { useBillingScope } from "../../app/useBillingScope";
import { Failure } from "../../components/Failure";
import { Loading } from "../../components/Loading";
import { useFormat, useStrings } from "../../i18n";
import { seriesOf } from "./series";

type Drawn = MixedLineBarChartProps<string>["series"][number];

/** A month's cost by day: stacked by cluster, flavor, region or tag, or a line for each, and against budgets where it is added up. */
export function SpendChart({ summary }: { summary: Summary }) {
  const s = useStrings().billing;
  const f = useFormat();
  const [group, setGroup] = useState("cluster");
  const [shown, setShown] = useState("day");
  const over = summary.until <= summary.observed_at;
  const report = useQuery(dailyCost(useBillingScope(), { since: summary.since, until: over ? summary.until : undefined }, group));
  const groups = ["cluster", "flavor", "region", ...new Set(summary.tags.map((each) => `tag:${each.key}`))]
    .map((value) => ({ value, label: s.groups[value] ?? s.byTag(value.slice("tag:".length)) }));
  const names = new Map(summary.clusters.map((each) => [each.cluster_id, each.name]));
  const cumulative = shown === "total";
  const chart = report.data && seriesOf(report.data, (each) => (each === null ? s.untagged : names.get(each) ?? each), cumulative);
  const money = (value: number) => f.amount(value, chart?.currency || summary.accrued.currency);
  const axis = (value: number) => f.amount(value, chart?.currency || summary.accrued.currency, 0);
  const bars: Drawn[] = (chart?.series ?? []).map((each) => ({
    type: shown === "lines" ? "line" : "bar", title: each.name ?? s.rest, valueFormatter: money, data: (chart?.days ?? []).map((day, index) => ({ x: day, y: Number(each.cost[index]) })),
  }));
  const lines: Drawn[] = cumulative ? summary.budgets.map((each) => ({
    type: "threshold", title: s.budget(each.name), y: Number(each.amount.amount), valueFormatter: money,
  })) : [];
  return (
    <Container
      header={
        <Header
          variant="h2"
          description={report.data?.posted_until ? s.until(f.moment(report.data.posted_until)) : s.closedHours}
          actions={
            <SpaceBetween direction="horizontal" size="xs">
              <SegmentedControl
                label={s.shownAs}
                selectedId={shown}
                options={[{ id: "day", text: s.perDay }, { id: "total", text: s.cumulative }, { id: "lines", text: s.asLines }]}
                onChange={({ detail }) => setShown(detail.selectedId)}
              />
              <Select
                ariaLabel={s.groupBy}
                selectedOption={groups.find((each) => each.value === group) ?? null}
                options={groups}
                onChange={({ detail }) => setGroup(detail.selectedOption.value ?? "cluster")}
              />
            </SpaceBetween>
          }
        >
          {s.chart}
        </Header>
      }
    >
      {report.error ? <Failure error={report.error} retry={() => void report.refetch()} /> : !chart ? <Loading /> : (
        <MixedLineBarChart
          series={[...bars, ...lines]}
          xDomain={chart.days}
          xScaleType="categorical"
          stackedBars
          height={280}
          hideFilter
          ariaLabel={s.chart}
          xTickFormatter={(day) => f.shortDay(day)}
          yTickFormatter={axis}
          i18nStrings={{ xTickFormatter: (day) => f.shortDay(day), yTickFormatter: axis, chartAriaRoleDescription: s.chartRole }}
          empty={<Box textAlign="center" color="text-body-secondary">{s.noCost}</Box>}
          noMatch={<Box textAlign="center" color="text-body-secondary">{s.noCost}</Box>}
        />
      )}
    </Container>
  );
}
