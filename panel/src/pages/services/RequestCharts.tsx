import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useQuery } from "@tanstack/react-query";
import type { Schemas } from "../../api/client";
import { serviceMetrics, type Service } from "../../api/services";
import { useProject } from "../../app/Project";
import { Failure } from "../../components/Failure";
import { Loading } from "../../components/Loading";
import { TimeChart } from "../../components/TimeChart";
import { useFormat } from "../../i18n";
import { useServiceStrings } from "../../i18n/services";
import { runs } from "../cluster/usage";

type Point = Schemas["ServiceMetricsPoint"];

const STEP = 900;
const COLOURS = { requests: "#0972d3", errors: "#d91515", p50: "#0972d3", p95: "#b2540c", p99: "#7d2105" };

/** The requests that the API passed on in the last 24 hours: how many, how many failed, and how long answers took. */
export function RequestCharts({ service }: { service: Service }) {
  const s = useServiceStrings();
  const f = useFormat();
  const { data, error, refetch } = useQuery(serviceMetrics(useProject(), service.cluster, service.id, STEP));
  const shown = () => {
    if (!data) return error ? <Failure error={error} retry={() => void refetch()} /> : <Loading />;
    const shared = { since: data.since, until: data.until };
    const line = (title: string, color: string, value: (point: Point) => number | null) => ({ title, color, runs: runs(data, value) });
    const asked = data.points.some((each) => each.requests > 0);
    const perStep = (name: "requests" | "errors") => [line(s[name], COLOURS[name], (each) => each[name])];
    const latency = (["p50", "p95", "p99"] as const).map((name) => line(s.percentiles[name], COLOURS[name], (each) => each[`${name}_seconds`]));
    const count = (value: number) => f.number(value, 1);
    return (
      <SpaceBetween size="l">
        <TimeChart {...shared} title={s.requestsPerStep(STEP / 60)} lines={asked ? perStep("requests") : []} written={count} empty={s.noRequests} />
        <TimeChart {...shared} title={s.errorsPerStep(STEP / 60)} lines={asked ? perStep("errors") : []} written={count} empty={s.noRequests} />
        <TimeChart {...shared} title={s.latency} lines={asked ? latency : []} written={(value) => f.milliseconds(value)} empty={s.noRequests} />
      </SpaceBetween>
    );
  };
  return <Container header={<Header variant="h2" description={s.trafficText}>{s.traffic}</Header>}>{shown()}</Container>;
}
