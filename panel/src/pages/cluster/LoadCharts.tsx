import SpaceBetween from "@cloudscape-design/components/space-between";
import { useQuery } from "@tanstack/react-query";
import { clusterMetrics, type Cluster } from "../../api/queries";
import { useProject } from "../../app/Project";
import { Failure } from "../../components/Failure";
import { Loading } from "../../components/Loading";
import { TimeChart } from "../../components/TimeChart";
import { useFormat, useStrings } from "../../i18n";
import { runs } from "./usage";

const STEP = 900;
const BLUE = "#0972d3";

/** How busy the cluster's IPUs were, and what they drew. */
export function LoadCharts({ cluster }: { cluster: Cluster }) {
  const { usage: s } = useStrings();
  const f = useFormat();
  const { data, error, refetch } = useQuery(clusterMetrics(useProject(), cluster.id, STEP));
  if (!data) return error ? <Failure error={error} retry={() => void refetch()} /> : <Loading />;
  const shared = { since: data.since, until: data.until, empty: s.notObserved };
  const line = (title: string, value: "utilisation_percent" | "power_watts") => [{ title, color: BLUE, runs: runs(data, (point) => point[value]) }];
  return (
    <SpaceBetween size="l">
      <TimeChart {...shared} title={s.utilisation} lines={line(s.utilisation, "utilisation_percent")} most={100} written={(value) => `${f.number(value, 1)} %`} />
      <TimeChart {...shared} title={s.power} lines={line(s.power, "power_watts")} written={(value) => s.watts(f.number(value))} />
    </SpaceBetween>
  );
}
