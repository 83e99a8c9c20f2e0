import Button from "@cloudscape-design/components/button";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Schemas } from "../../api/client";
import { jobPage, type Job } from "../../api/jobs";
import type { Cluster } from "../../api/queries";
import { useGo } from "../../app/place";
import { useMay, useProject } from "../../app/Project";
import { amount } from "../../components/amount";
import { Empty } from "../../components/Empty";
import { JobState } from "../../components/JobState";
import { later } from "../../components/later";
import { PagedTable, useView } from "../../components/PagedTable";
import { To } from "../../components/To";
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
  const go = useGo();
  const may = useMay("cluster:write") && ["active", "degraded"].includes(cluster.state);
  const view = useView<keyof typeof FILTERS>("all");
  const [asking, setAsking] = useState(false);
  const list = useQuery(jobPage(useProject(), cluster.id, { state: FILTERS[view.shown], order: view.order, limit: 20, cursor: view.pages.cursor }));
  const page = (job: Job) => `/clusters/${cluster.id}/jobs/${job.number}`;
  const run = may && <Button onClick={() => setAsking(true)}>{s.run}</Button>;
  return (
    <>
      <PagedTable
        title={s.title}
        text={s.description}
        view={view}
        options={s.shown}
        list={list}
        actions={run}
        none={<Empty title={s.emptyTitle} text={s.emptyText} />}
        columns={[
          { id: "job", header: s.job, minWidth: 200, isRowHeader: true, cell: (each) => <To href={page(each)}>{s.named(each.number, lineOf(each.command))}</To> },
          { id: "state", header: common.state, minWidth: 130, cell: (each) => <JobState job={each} /> },
          { id: "why", header: s.why, minWidth: 120, cell: (each) => each.state_reason ?? common.none },
          { id: "server", header: s.server, cell: (each) => serverName(each.poplar_server) },
          { id: "created", header: common.created, sortingField: "created_at", cell: (each) => f.moment(each.created_at) },
          { id: "cost", header: amount(s.cost), cell: (each) => amount(each.cost ? f.money(each.cost) : common.none) },
        ]}
      />
      {asking && <RunJob cluster={cluster} onClose={(job) => { setAsking(false); if (job) go(page(job)); }} />}
    </>
  );
}
