import Box from "@cloudscape-design/components/box";
import Container from "@cloudscape-design/components/container";
import ExpandableSection from "@cloudscape-design/components/expandable-section";
import Header from "@cloudscape-design/components/header";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import MixedLineBarChart from "@cloudscape-design/components/mixed-line-bar-chart";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Table from "@cloudscape-design/components/table";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Schemas } from "../../api/client";
import { clusterUsage, type Cluster } from "../../api/queries";
import { useProject } from "../../app/Project";
import { amount } from "../../components/amount";
import { Empty } from "../../components/Empty";
import { Failure } from "../../components/Failure";
import { later } from "../../components/later";
import { Loading } from "../../components/Loading";
import { useFormat, useStrings } from "../../i18n";
import { daily, daysUntil } from "./usage";

const LoadCharts = later(async () => (await import("./LoadCharts")).LoadCharts);
const DAYS = 14;
const SHOWN = 100;

/** When the cluster was in use, of which size, and what that cost. */
export function UsageTab({ cluster }: { cluster: Cluster }) {
  const { usage: s } = useStrings();
  const f = useFormat();
  const [load, setLoad] = useState(false);
  const { data, error, refetch } = useQuery(clusterUsage(useProject(), cluster.id));
  if (!data) return error ? <Failure error={error} retry={() => void refetch()} /> : <Loading />;
  return (
    <SpaceBetween size="l">
      <Container header={<Header variant="h2" description={s.until(f.moment(data.until))}>{s.title}</Header>}>
        <KeyValuePairs
          columns={3}
          items={[
            { label: s.minutes, value: f.number(data.minutes) },
            { label: s.credited, value: f.number(data.credited_minutes) },
            { label: s.cost, value: f.money(data.cost) },
          ]}
        />
      </Container>
      <ExpandableSection variant="container" headerText={s.load} headerDescription={s.loadText} onChange={({ detail }) => setLoad(detail.expanded)} expanded={load}>
        {load && <LoadCharts cluster={cluster} />}
      </ExpandableSection>
      <Days usage={data} shown="hours" />
      <Days usage={data} shown="cost" />
      <Slices usage={data} />
    </SpaceBetween>
  );
}

/** A bar for each of the last days, by flavor: hours in use, or their cost. */
function Days({ usage, shown }: { usage: Schemas["Usage"]; shown: "hours" | "cost" }) {
  const { billing, usage: s } = useStrings();
  const f = useFormat();
  const days = daysUntil(usage.until, DAYS);
  const value = (number: number) => (shown === "hours" ? s.hours(f.number(number, 1)) : f.amount(number, usage.cost.currency));
  const empty = <Box textAlign="center" color="text-body-secondary">{s.none}</Box>;
  return (
    <Container header={<Header variant="h2" description={s.days(DAYS)}>{s.perDay[shown]}</Header>}>
      <MixedLineBarChart
        series={daily(usage.slices, days).map((each) => ({
          type: "bar", title: each.flavor, valueFormatter: value, data: days.map((day, index) => ({ x: day, y: each[shown][index] ?? 0 })),
        }))}
        xDomain={days}
        yDomain={shown === "hours" ? [0, 24] : undefined}
        xScaleType="categorical"
        stackedBars
        height={200}
        hideFilter
        ariaLabel={s.perDay[shown]}
        i18nStrings={{ xTickFormatter: (day) => f.shortDay(day), yTickFormatter: value, chartAriaRoleDescription: billing.chartRole }}
        empty={empty}
        noMatch={empty}
      />
    </Container>
  );
}

/** What the chart shows, exactly: each time in use of one size and price, the newest first. */
function Slices({ usage }: { usage: Schemas["Usage"] }) {
  const { billing, usage: s } = useStrings();
  const f = useFormat();
  return (
    <Table
      variant="container"
      wrapLines
      items={usage.slices.toReversed().slice(0, SHOWN)}
      ariaLabels={{ tableLabel: s.slices }}
      header={<Header variant="h2" counter={`(${f.number(usage.slices.length)})`} description={usage.slices.length > SHOWN ? s.newest(SHOWN) : undefined}>{s.slices}</Header>}
      columnDefinitions={[
        { id: "from", header: s.from, isRowHeader: true, cell: (each) => f.moment(each.started_at) },
        { id: "to", header: s.to, cell: (each) => f.moment(each.ended_at) },
        { id: "flavor", header: billing.flavor, cell: (each) => each.flavor },
        { id: "minutes", header: s.minutes, cell: (each) => f.number(each.minutes) },
        { id: "cost", header: amount(s.cost), cell: (each) => amount(f.money(each.cost)) },
      ]}
      empty={<Empty title={s.none} text={s.noneText} />}
    />
  );
}
