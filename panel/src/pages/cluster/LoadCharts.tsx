import Box from "@cloudscape-design/components/box";
import MixedLineBarChart from "@cloudscape-design/components/mixed-line-bar-chart";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useQuery } from "@tanstack/react-query";
import type { Schemas } from "../../api/client";
import { clusterMetrics, type Cluster } from "../../api/queries";
import { useProject } from "../../app/Project";
import { Failure } from "../../components/Failure";
import { Loading } from "../../components/Loading";
import { useFormat, useStrings } from "../../i18n";
import { runs } from "./usage";

const STEP = 900;

/** How busy the cluster's IPUs were, and what they drew. */
export function LoadCharts({ cluster }: { cluster: Cluster }) {
  const { data, error, refetch } = useQuery(clusterMetrics(useProject(), cluster.id, STEP));
  if (!data) return error ? <Failure error={error} retry={() => void refetch()} /> : <Loading />;
  return (
    <SpaceBetween size="l">
      <Line metrics={data} value="utilisation_percent" />
      <Line metrics={data} value="power_watts" />
    </SpaceBetween>
  );
}

function Line({ metrics, value }: { metrics: Schemas["Metrics"]; value: "utilisation_percent" | "power_watts" }) {
  const { billing, usage: s } = useStrings();
  const f = useFormat();
  const busy = value === "utilisation_percent";
  const title = busy ? s.utilisation : s.power;
  const written = (number: number) => (busy ? `${f.number(number, 1)} %` : s.watts(f.number(number)));
  const empty = <Box textAlign="center" color="text-body-secondary">{s.notObserved}</Box>;
  return (
    <div>
      <Box variant="h3">{title}</Box>
      <MixedLineBarChart
        series={runs(metrics, value).map((data) => ({ type: "line", title, color: "#0972d3", valueFormatter: written, data }))}
        xScaleType="time"
        xDomain={[new Date(metrics.since), new Date(metrics.until)]}
        yDomain={busy ? [0, 100] : undefined}
        height={160}
        hideFilter
        hideLegend
        ariaLabel={title}
        i18nStrings={{ xTickFormatter: (at: Date) => f.moment(at.toISOString()), yTickFormatter: written, chartAriaRoleDescription: billing.chartRole }}
        empty={empty}
        noMatch={empty}
      />
    </div>
  );
}
