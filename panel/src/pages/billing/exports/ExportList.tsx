import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Header from "@cloudscape-design/components/header";
import Link from "@cloudscape-design/components/link";
import StatusIndicator, { type StatusIndicatorProps } from "@cloudscape-design/components/status-indicator";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { BillingScope } from "../../../api/billing";
import { connections, exportLimit, exports, fileOf, type Export } from "../../../api/exports";
import { useBillingScope, useMayPay } from "../../../app/useBillingScope";
import { Choice, optionsOf } from "../../../components/Choice";
import { Empty } from "../../../components/Empty";
import { Failure } from "../../../components/Failure";
import { ListTable } from "../../../components/ListTable";
import { BY_AGE, oneOf, useListView } from "../../../components/useListView";
import { later } from "../../../components/later";
import { useFormat, useStrings } from "../../../i18n";
import { useExportStrings } from "../../../i18n/exports";

const CreateExport = later(async () => (await import("./CreateExport")).CreateExport, null);

const KIND = { succeeded: "success", failed: "error", cancelled: "stopped", queued: "pending", running: "in-progress", cancelling: "in-progress" } as Record<string, StatusIndicatorProps.Type>;
const STATES = ["queued", "running", "succeeded", "failed"] as const;
const DATASETS = ["cost-and-usage", "billing-period", "invoice-detail"] as const;
const DAY_MS = 86_400_000;

/** Exports, newest first, with their files as long as they are kept. */
export function ExportList() {
  const { common, cluster } = useStrings();
  const s = useExportStrings();
  const f = useFormat();
  const scope = useBillingScope();
  const may = useMayPay("billing:write");
  const view = useListView(["state", "dataset"], BY_AGE);
  const state = oneOf(STATES, view.value("state"));
  const dataset = oneOf(DATASETS, view.value("dataset"));
  const { data, error, refetch } = useQuery(exports(scope, { state: state && [state], dataset, order: view.order, limit: 20, cursor: view.pages.cursor }));
  const places = useQuery(connections(scope)).data?.items ?? [];
  const limit = useQuery(exportLimit(scope)).data;
  const [asking, setAsking] = useState(false);
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  const period = (each: Export) => each.month ? f.month(`${each.month}-01T00:00:00Z`)
    : s.days(f.day(each.since), f.day(new Date(Date.parse(each.until) - DAY_MS).toISOString()));
  const ask = may && <Button disabled={limit?.next_at != null} disabledReason={limit?.next_at ? s.nextAt(f.moment(limit.next_at)) : undefined} onClick={() => setAsking(true)}>{s.create}</Button>;
  return (
    <>
      <ListTable
        variant="container"
        title={s.title}
        view={view}
        page={data}
        filters={
          <>
            <Choice
              label={common.state}
              value={state ?? ""}
              options={optionsOf(common.all, STATES, cluster.operationState)}
              onChange={(value) => view.filter("state", value)}
            />
            <Choice
              label={s.contents}
              value={dataset ?? ""}
              options={optionsOf(common.all, DATASETS, s.datasets)}
              onChange={(value) => view.filter("dataset", value)}
            />
          </>
        }
        header={<Header variant="h2" description={[s.text, limit && s.usedOf(f.number(limit.used), f.number(limit.per_day))].filter(Boolean).join(" ")} actions={ask}>{s.title}</Header>}
        columnDefinitions={[
          { id: "what", header: s.contents, isRowHeader: true, cell: (each) => s.contentsOf(s.datasets[each.dataset] ?? each.dataset, each.version, each.format.toUpperCase()) },
          { id: "period", header: s.period, cell: period },
          {
            id: "state", header: common.state, minWidth: 150,
            cell: (each) => (
              <>
                <StatusIndicator type={KIND[each.state] ?? "pending"}>
                  {each.state === "running" ? `${cluster.operationState[each.state]}, ${f.percent(each.progress / 100)}` : (cluster.operationState[each.state] ?? each.state)}
                </StatusIndicator>
                {each.last_error && <Box variant="small" display="block">{each.last_error}</Box>}
              </>
            ),
          },
          {
            id: "to", header: s.destination,
            cell: (each) => (each.connection ? `${places.find((place) => place.id === each.connection)?.name ?? s.deletedConnection}${each.delivered_at ? `, ${f.moment(each.delivered_at)}` : ""}` : common.none),
          },
          { id: "created", header: common.created, sortingField: "created_at", cell: (each) => f.moment(each.created_at) },
          { id: "file", header: s.file, cell: (each) => <File scope={scope} file={each} /> },
        ]}
        none={<Empty title={s.none} text={s.noneText} />}
      />
      {asking && <CreateExport onClose={() => setAsking(false)} />}
    </>
  );
}

function File({ scope, file }: { scope: BillingScope; file: Export }) {
  const { common } = useStrings();
  const s = useExportStrings();
  const f = useFormat();
  if (!file.built_at) return <>{common.none}</>;
  if (file.expires_at && Date.parse(file.expires_at) <= Date.now()) return <>{s.expired}</>;
  return (
    <>
      <Link href={fileOf(scope, file.id)} target="_blank">{s.download}</Link>
      {file.expires_at && <Box variant="small" display="block">{s.keptUntil(f.moment(file.expires_at))}</Box>}
    </>
  );
}
