import Box from "@cloudscape-design/components/box";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import ProgressBar from "@cloudscape-design/components/progress-bar";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Steps from "@cloudscape-design/components/steps";
import { useQuery } from "@tanstack/react-query";
import type { Schemas } from "../../api/client";
import { clusterOperations, operation as operationQuery, type Cluster, type Operation } from "../../api/queries";
import { useProject } from "../../app/Project";
import { Failure } from "../../components/Failure";
import { Loading } from "../../components/Loading";
import { useFormat, useStrings } from "../../i18n";

const STEP = {
  succeeded: "success", running: "in-progress", failed: "error", cancelled: "stopped", skipped: "stopped",
} as Record<string, "success" | "in-progress" | "error" | "stopped">;

/** The cluster's present operation, or its last: each step with how long it took. */
export function Timeline({ cluster }: { cluster: Cluster }) {
  const { common, cluster: s } = useStrings();
  const project = useProject();
  const all = useQuery(clusterOperations(project, cluster.id));
  const newest = cluster.operation?.id ?? all.data?.items[0]?.id;
  const { data, error } = useQuery({ ...operationQuery(project, newest ?? ""), enabled: newest !== undefined });
  const failure = all.error ?? error;
  return (
    <Container header={<Header variant="h2" description={data && (s.operations[data.kind] ?? data.kind)}>{s.timeline}</Header>}>
      {data ? <Progress operation={data} /> : failure ? <Failure error={failure} />
        : all.data && !newest ? <Box>{s.timelineNone}</Box> : <Loading />}
      {data?.error && <Box color="text-status-error">{String(data.error.detail ?? common.failed)}</Box>}
    </Container>
  );
}

function Progress({ operation }: { operation: Operation }) {
  const s = useStrings().cluster;
  const f = useFormat();
  const stage = operation.stage ? (s.stages[operation.stage] ?? operation.stage) : "";
  return (
    <SpaceBetween size="m">
      {!operation.done && (
        <ProgressBar
          value={operation.progress}
          label={stage}
          description={operation.expected_at ? s.expected(f.clock(operation.expected_at)) : undefined}
          additionalInfo={operation.blocked_by ?? undefined}
        />
      )}
      <Steps
        ariaLabel={s.timeline}
        steps={operation.steps.map((step) => ({
          header: s.steps[step.name] ?? step.name.replaceAll("_", " "),
          status: STEP[step.state] ?? "pending",
          statusIconAriaLabel: s.operationState[step.state] ?? step.state,
          details: <Took step={step} />,
        }))}
      />
    </SpaceBetween>
  );
}

function Took({ step }: { step: Schemas["Step"] }) {
  const s = useStrings().cluster;
  const f = useFormat();
  if (!step.started_at) return step.detail;
  const seconds = step.finished_at ? (Date.parse(step.finished_at) - Date.parse(step.started_at)) / 1000 : null;
  return (
    <Box variant="small">
      {f.clock(step.started_at)}
      {seconds !== null && `, ${s.took(f.duration(seconds))}`}
      {step.detail && <div>{step.detail}</div>}
    </Box>
  );
}
