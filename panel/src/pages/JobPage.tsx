import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import ContentLayout from "@cloudscape-design/components/content-layout";
import Header from "@cloudscape-design/components/header";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import ProgressBar from "@cloudscape-design/components/progress-bar";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useParams } from "react-router";
import { ended, jobLog, jobQuery, stopJob, type Job } from "../api/jobs";
import { cluster as clusterQuery, type Cluster } from "../api/queries";
import { useFlash } from "../app/Flashes";
import { useMay, useProject } from "../app/Project";
import { Consequences } from "../components/Consequences";
import { Copyable } from "../components/Copyable";
import { Dialog } from "../components/Dialog";
import { FailedPage } from "../components/Failure";
import { JobState } from "../components/JobState";
import { Loading } from "../components/Loading";
import { Output } from "../components/Output";
import { To } from "../components/To";
import { useChange } from "../components/useChange";
import { useServerName } from "../components/useServerName";
import { lineOf } from "../components/words";
import { useFormat, useStrings } from "../i18n";
import { useJobStrings } from "../i18n/jobs";

/** A job: its state and why, its limits, and what its program writes. */
export function JobPage() {
  const names = useStrings().cluster;
  const s = useJobStrings();
  const { id = "", number = "" } = useParams();
  const project = useProject();
  const { data: job, error, refetch } = useQuery(jobQuery(project, id, number));
  const cluster = useQuery(clusterQuery(project, id)).data;
  const may = useMay("cluster:write");
  const [stopping, setStopping] = useState(false);
  if (!job) return error ? <FailedPage title={s.title} error={error} retry={() => void refetch()} /> : <Loading />;
  const stop = may && !ended(job) && <Button disabled={job.stop_requested_at !== null} onClick={() => setStopping(true)}>{s.stop}</Button>;
  return (
    <ContentLayout
      header={<Header variant="h1" actions={stop}>{s.numbered(job.number)}</Header>}
      breadcrumbs={<To href={`/clusters/${id}?tab=jobs`}>{cluster?.name ?? names.overview}</To>}
    >
      <SpaceBetween size="l">
        <Facts job={job} cluster={cluster} />
        <Output log={jobLog(project, job.cluster, String(job.number))} texts={s} cut={s.outputCut(job.number)} />
      </SpaceBetween>
      {stopping && <Stop job={job} onClose={() => setStopping(false)} />}
    </ContentLayout>
  );
}

function Facts({ job, cluster: owner }: { job: Job; cluster: Cluster | undefined }) {
  const { common, cluster } = useStrings();
  const s = useJobStrings();
  const f = useFormat();
  const serverName = useServerName(owner);
  const line = lineOf(job.command);
  const when = (moment: string | null) => (moment ? f.second(moment) : common.none);
  return (
    <Container header={<Header variant="h2">{cluster.overview}</Header>}>
      <KeyValuePairs
        columns={4}
        items={[
          { label: common.state, value: <JobState job={job} /> },
          ...(job.state_reason ? [{ label: s.why, value: job.state_reason }] : []),
          ...(job.ended_by ? [{ label: s.endedBy, value: s.endings[job.ended_by] }] : []),
          ...(job.exit_status === null ? [] : [{ label: s.exitStatus, value: f.number(job.exit_status) }]),
          { label: s.command, value: <Copyable text={line} label={s.command} command /> },
          ...(job.image ? [{ label: s.image, value: <Copyable text={job.image} label={s.image} command /> }] : []),
          { label: s.directory, value: job.directory ?? (job.image ? s.ofTheImage : s.home) },
          { label: s.environment, value: job.environment.join(", ") || common.none },
          { label: s.server, value: serverName(job.poplar_server) },
          { label: s.attempts, value: s.attemptOf(job.attempt, job.retries + 1) },
          { label: common.created, value: f.second(job.created_at) },
          ...(job.requested_by.name ? [{ label: s.by, value: job.requested_by.name }] : []),
          { label: s.started, value: when(job.started_at) },
          { label: s.ended, value: when(job.ended_at) },
          ...(job.observed_at && !job.ended_at ? [{ label: s.observed, value: f.second(job.observed_at) }] : []),
          { label: s.time, value: <Time job={job} /> },
          { label: s.cost, value: <Cost job={job} /> },
        ]}
      />
    </Container>
  );
}

/** How long it has run, and of which limit. */
function Time({ job }: { job: Job }) {
  const { common } = useStrings();
  const s = useJobStrings();
  const f = useFormat();
  if (!job.started_at) return <>{job.max_minutes ? s.atMost(f.duration(job.max_minutes * 60)) : common.none}</>;
  const until = job.ended_at ?? job.observed_at ?? job.started_at;
  const seconds = Math.max(0, (Date.parse(until) - Date.parse(job.started_at)) / 1000);
  if (job.max_minutes === null) return <>{f.duration(seconds)}<Box variant="small" display="block">{s.noLimit}</Box></>;
  return <Limit label={s.time} share={seconds / (60 * job.max_minutes)} text={s.of(f.duration(seconds), f.duration(job.max_minutes * 60))} />;
}

/** What the cluster has cost since its start, and of which limit. */
function Cost({ job }: { job: Job }) {
  const { common } = useStrings();
  const s = useJobStrings();
  const f = useFormat();
  const { cost, max_cost: most } = job;
  if (!cost) return <>{most ? s.atMost(f.money(most)) : common.none}</>;
  if (!most) return <>{f.money(cost)}<Box variant="small" display="block">{s.noLimit}</Box></>;
  return <Limit label={s.cost} share={Number(cost.amount) / Number(most.amount)} text={s.of(f.money(cost), f.money(most))} />;
}

function Limit({ label, share, text }: { label: string; share: number; text: string }) {
  return <ProgressBar ariaLabel={label} value={Math.min(100, 100 * share)} additionalInfo={text} />;
}

function Stop({ job, onClose }: { job: Job; onClose: () => void }) {
  const s = useJobStrings();
  const flash = useFlash();
  const project = useProject();
  const run = useChange(() => stopJob(project, job.cluster, job.number), () => {
    flash({ type: "success", content: s.stopRequested(job.number) });
    onClose();
  });
  return (
    <Dialog title={s.stopTitle(job.number)} submit={s.stop} pending={run.isPending} error={run.error} onSubmit={() => run.mutate()} onClose={onClose}>
      <Consequences type="warning" lines={job.state === "queued" ? [s.stopQueued] : s.stopWhat} />
    </Dialog>
  );
}
