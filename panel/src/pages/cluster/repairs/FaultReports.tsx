import Button from "@cloudscape-design/components/button";
import Header from "@cloudscape-design/components/header";
import StatusIndicator, { type StatusIndicatorProps } from "@cloudscape-design/components/status-indicator";
import Table from "@cloudscape-design/components/table";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Schemas } from "../../../api/client";
import { faultReportPage, type FaultReport } from "../../../api/cluster";
import type { Cluster } from "../../../api/queries";
import { useMay, useProject } from "../../../app/Project";
import { Empty } from "../../../components/Empty";
import { Failure } from "../../../components/Failure";
import { Pager } from "../../../components/Pager";
import { later } from "../../../components/later";
import { useCursor } from "../../../components/useCursor";
import { useFormat, useStrings } from "../../../i18n";
import { useRepairStrings } from "../../../i18n/repairs";

const ReportFault = later(async () => (await import("./ReportFault")).ReportFault, null);

const KIND: Record<FaultReport["state"], StatusIndicatorProps.Type> = {
  open: "pending", confirmed: "warning", dismissed: "stopped", repaired: "success", closed: "stopped",
};

export function ReportState({ state }: { state: FaultReport["state"] }) {
  return <StatusIndicator type={KIND[state]}>{useRepairStrings().states[state]}</StatusIndicator>;
}

/** What was reported of the cluster's hardware, newest first, and what the operator answered. */
export function FaultReports({ cluster }: { cluster: Cluster }) {
  const { common } = useStrings();
  const s = useRepairStrings();
  const f = useFormat();
  const may = useMay("cluster:write") && cluster.machines.length > 0;
  const [order, setOrder] = useState<Schemas["Order"]>("-created_at");
  const [reporting, setReporting] = useState(false);
  const pages = useCursor();
  const { data, error, isPending, refetch } = useQuery(faultReportPage(useProject(), { cluster: cluster.id, order, limit: 20, cursor: pages.cursor }));
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  const report = may && <Button onClick={() => setReporting(true)}>{s.report}</Button>;
  return (
    <>
      <Table
        variant="container"
        wrapLines
        trackBy="id"
        items={data?.items ?? []}
        loading={isPending}
        loadingText={common.loading}
        ariaLabels={{ tableLabel: s.reports }}
        header={<Header variant="h2" description={s.reportsText} actions={report}>{s.reports}</Header>}
        sortingColumn={{ sortingField: "created_at" }}
        sortingDescending={order === "-created_at"}
        onSortingChange={({ detail }) => {
          setOrder(detail.isDescending ? "-created_at" : "created_at");
          pages.reset();
        }}
        columnDefinitions={[
          { id: "name", header: s.reportedHardware, isRowHeader: true, cell: (each) => each.name },
          { id: "state", header: common.state, minWidth: 140, cell: (each) => <ReportState state={each.state} /> },
          { id: "category", header: s.category, cell: (each) => s.categories[each.category] },
          { id: "description", header: s.description, minWidth: 200, cell: (each) => each.description },
          { id: "answer", header: s.answer, minWidth: 160, cell: (each) => each.answer ?? common.none },
          { id: "created", header: s.reported, sortingField: "created_at", cell: (each) => f.moment(each.created_at) },
        ]}
        pagination={<Pager pages={pages} next={data?.next_cursor} />}
        empty={<Empty title={s.noReports} text={s.noReportsText} />}
      />
      {reporting && <ReportFault cluster={cluster} onClose={() => setReporting(false)} />}
    </>
  );
}
