import Button from "@cloudscape-design/components/button";
import Header from "@cloudscape-design/components/header";
import Table from "@cloudscape-design/components/table";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useNavigate } from "react-router";
import type { Schemas } from "../../api/client";
import { jobPage, type Job } from "../../api/jobs";
import type { Cluster } from "../../api/queries";
import { useMay, useProject } from "../../app/Project";
import { Choice } from "../../components/Choice";
import { Empty } from "../../components/Empty";
import { Failure } from "../../components/Failure";
import { JobState } from "../../components/JobState";
import { later } from "../../components/later";
import { Pager } from "../../components/Pager";
import { To } from "../../components/To";
import { useCursor } from "../../components/useCursor";
import { useServerName } from "../../components/useServerName";
import { lineOf } from "../../components/words";
import { useFormat, useStrings } from "../../i18n";
import { useJobStrings } from "../../i18n/jobs";

const RunJob = later(async () => (await import("../jobs/RunJob")).RunJob, null);

const FILTERS: Record<"all" | "open" | "ended", Schemas["JobState"][] | undefined> = {
  all: undefined, open: ["queued", "running"], ended: ["succeeded", "failed", "stopped"],
};

/** The programs that the service runs on the cluster's servers, newest first. */
export function JobsTab({ cluster }: { cluster: Cluster }) {
  const { common } = useStrings();
  const s = useJobStrings();
  const f = useFormat();
  const serverName = useServerName(cluster);
  const go = useNavigate();
  const may = useMay("cluster:write") && ["active", "degraded"].includes(cluster.state);
  const [shown, setShown] = useState<keyof typeof FILTERS>("all");
  const [order, setOrder] = useState<Schemas["Order"]>("-created_at");
  const [asking, setAsking] = useState(false);
  const pages = useCursor();
  const query = { state: FILTERS[shown], order, limit: 20, cursor: pages.cursor };
  const { data, error, isPending, refetch } = useQuery(jobPage(useProject(), cluster.id, query));
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  const page = (job: Job) => `/clusters/${cluster.id}/jobs/${job.number}`;
  const run = may && <Button onClick={() => setAsking(true)}>{s.run}</Button>;
  return (
    <>
      <Table
        variant="container"
        wrapLines
        trackBy="id"
        items={data?.items ?? []}
        loading={isPending}
        loadingText={common.loading}
        ariaLabels={{ tableLabel: s.title }}
        header={<Header variant="h2" description={s.description} actions={run}>{s.title}</Header>}
        filter={<Choice label={common.shown} value={shown} options={s.shown} onChange={(value) => { setShown(value); pages.reset(); }} />}
        sortingColumn={{ sortingField: "created_at" }}
        sortingDescending={order === "-created_at"}
        onSortingChange={({ detail }) => {
          setOrder(detail.isDescending ? "-created_at" : "created_at");
          pages.reset();
        }}
        columnDefinitions={[
          { id: "job", header: s.job, minWidth: 200, isRowHeader: true, cell: (each) => <To href={page(each)}>{s.named(each.number, lineOf(each.command))}</To> },
          { id: "state", header: common.state, minWidth: 130, cell: (each) => <JobState job={each} /> },
          { id: "why", header: s.why, minWidth: 120, cell: (each) => each.state_reason ?? common.none },
          { id: "server", header: s.server, cell: (each) => serverName(each.poplar_server) },
          { id: "created", header: common.created, sortingField: "created_at", cell: (each) => f.moment(each.created_at) },
          { id: "cost", header: s.cost, cell: (each) => (each.cost ? f.money(each.cost) : common.none) },
        ]}
        pagination={<Pager pages={pages} next={data?.next_cursor} />}
        empty={shown === "all" ? <Empty title={s.emptyTitle} text={s.emptyText} /> : <Empty title={common.noMatch} text={common.noMatchText} />}
      />
      {asking && <RunJob cluster={cluster} onClose={(job) => { setAsking(false); if (job) void go(page(job)); }} />}
    </>
  );
}
