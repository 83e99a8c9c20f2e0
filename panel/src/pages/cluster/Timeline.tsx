import Box from "@cloudscape-design/components/box";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import ProgressBar from "@cloudscape-design/components/progress-bar";
import Select from "@cloudscape-design/components/select";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Steps from "@cloudscape-design/components/steps";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Schemas } from "../../api/client";
import { clusterOperations, operation as operationQuery, type Cluster, type Operation } from "../../api/queries";
import { useProject } from "../../app/Project";
import { Failure } from "../../components/Failure";
import { Loading } from "../../components/Loading";
import { useFormat, useStrings } from "../../i18n";
import { CancelOperation } from "./CancelOperation";

const STEP = {
  succeeded: "success", running: "in-progress", failed: "error", cancelled: "stopped", skipped: "stopped",
} as Record<string, "success" | "in-progress" | "error" | "stopped">;

/** The cluster's present operation, its last, or one that was chosen: each step with when it began and how long it took. */
export function Timeline({ cluster }: { cluster: Cluster }) {
  const { common, cluster: s } = useStrings();
  const f = useFormat();
  const project = useProject();
  const all = useQuery(clusterOperations(project, cluster.id));
  const [chosen, setChosen] = useState<string>();
  const shown = chosen ?? cluster.operation?.id ?? all.data?.items[0]?.id;
  const { data, error } = useQuery({ ...operationQuery(project, shown ?? ""), enabled: shown !== undefined });
  const failure = all.error ?? error;
  const options = (all.data?.items ?? []).map((each) => ({
    value: each.id, label: s.operations[each.kind] ?? each.kind, labelTag: s.operationState[each.state] ?? each.state, description: f.moment(each.created_at),
  }));
  return (
    <Container header={<Header variant="h2" description={data && <Took operation={data} />} actions={data && <CancelOperation operation={data} />}>{s.timeline}</Header>}>
      <SpaceBetween size="m">
        {options.length > 1 && (
          <Select
            ariaLabel={s.whichOperation}
            options={options}
            selectedOption={options.find((each) => each.value === shown) ?? null}
            onChange={({ detail }) => setChosen(detail.selectedOption.value)}
          />
        )}
        {data ? <Progress operation={data} waits={cluster.waiting !== null && !data.done} /> : failure ? <Failure error={failure} /> : all.data && !shown ? <Box>{s.timelineNone}</Box> : <Loading />}
        {data?.error && <Box color="text-status-error">{String(data.error.detail ?? common.failed)}</Box>}
      </SpaceBetween>
    </Container>
  );
}

const seconds = (from: string, to: string) => (Date.parse(to) - Date.parse(from)) / 1000;

/** What an operation is, when it began, how long it took as a whole, and who asked for it. */
function Took({ operation }: { operation: Operation }) {
  const s = useStrings().cluster;
  const f = useFormat();
  const began = operation.started_at ?? operation.created_at;
  const took = operation.finished_at ? `, ${s.took(f.duration(seconds(began, operation.finished_at)))}` : "";
  const { kind, name } = operation.requested_by;
  const by = kind === "platform" ? `, ${s.byService}` : name ? `, ${s.by(name)}` : "";
  return <>{`${s.operations[operation.kind] ?? operation.kind}, ${f.moment(began)}${took}${by}`}</>;
}

function Progress({ operation, waits }: { operation: Operation; waits: boolean }) {
  const s = useStrings().cluster;
  const f = useFormat();
  const stage = operation.stage ? (s.stages[operation.stage] ?? operation.stage) : "";
  return (
    <SpaceBetween size="m">
      {waits && <Box>{s.waitsText}</Box>}
      {!operation.done && !waits && (
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
          details: <StepDetails step={step} operation={operation} />,
        }))}
      />
    </SpaceBetween>
  );
}

function StepDetails({ step, operation }: { step: Schemas["Step"]; operation: Operation }) {
  const s = useStrings().cluster;
  const f = useFormat();
  if (!step.started_at) return step.detail;
  const took = step.finished_at ? seconds(step.started_at, step.finished_at) : null;
  return (
    <Box variant="small">
      {f.clock(step.started_at)}
      {took !== null && `, ${s.took(f.duration(took))}`}
      <Bar step={step} operation={operation} />
      {step.detail && <div>{step.detail}</div>}
    </Box>
  );
}

/** When the step was done within the operation, as a bar; the same is in words above it. */
function Bar({ step, operation }: { step: Schemas["Step"]; operation: Operation }) {
  const starts = operation.started_at;
  if (!starts || !step.started_at) return null;
  const now = new Date().toISOString();
  const whole = Math.max(1, seconds(starts, operation.finished_at ?? now));
  const from = Math.min(100, (100 * seconds(starts, step.started_at)) / whole);
  const width = Math.min(100 - from, Math.max(0.8, (100 * seconds(step.started_at, step.finished_at ?? now)) / whole));
  return (
    <svg className="duration" aria-hidden="true" height={6}>
      <rect className="duration-whole" width="100%" height={6} rx={3} />
      <rect className={`duration-step is-${step.state}`} x={`${from}%`} width={`${width}%`} height={6} rx={3} />
    </svg>
  );
}
