import Button from "@cloudscape-design/components/button";
import FormField from "@cloudscape-design/components/form-field";
import Header from "@cloudscape-design/components/header";
import RadioGroup from "@cloudscape-design/components/radio-group";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Schemas } from "../../../api/client";
import { connections, createSchedule, deleteSchedule, schedules } from "../../../api/exports";
import { useFlash } from "../../../app/Flashes";
import { useBillingChange, useBillingScope, useMayPay } from "../../../app/useBillingScope";
import { Choice, optionsOf } from "../../../components/Choice";
import { Dialog } from "../../../components/Dialog";
import { Empty } from "../../../components/Empty";
import { Failure } from "../../../components/Failure";
import { ListTable } from "../../../components/ListTable";
import { BY_AGE, oneOf, useListView } from "../../../components/useListView";
import { later } from "../../../components/later";
import { useFormat, useStrings } from "../../../i18n";
import { useExportStrings } from "../../../i18n/exports";
import { ConnectionField } from "./ConnectionField";
import { FileFields, USUAL_FILE } from "./FileFields";

const DeleteDialog = later(async () => (await import("./DeleteDialog")).DeleteDialog, null);

type Schedule = Schemas["ExportSchedule"];

const INTERVALS = ["hour", "day", "month"] as const;
const DATASETS = ["cost-and-usage", "billing-period", "invoice-detail"] as const;

/** Files that are made and delivered regularly. */
export function ScheduleList() {
  const { common } = useStrings();
  const s = useExportStrings();
  const f = useFormat();
  const scope = useBillingScope();
  const may = useMayPay("billing:write");
  const view = useListView(["every", "dataset"], BY_AGE, "schedule-");
  const every = oneOf(INTERVALS, view.value("every"));
  const dataset = oneOf(DATASETS, view.value("dataset"));
  const { data, error, refetch } = useQuery(schedules(scope, { every, dataset, order: view.order }));
  const places = useQuery(connections(scope)).data?.items ?? [];
  const [creating, setCreating] = useState(false);
  const [leaving, setLeaving] = useState<Schedule>();
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  const create = may && <Button onClick={() => setCreating(true)}>{s.createSchedule}</Button>;
  const what = (each: Schedule) => s.contentsOf(s.datasets[each.dataset] ?? each.dataset, each.version, each.format.toUpperCase());
  return (
    <>
      <ListTable
        variant="container"
        title={s.schedules}
        view={view}
        page={data}
        filters={
          <>
            <Choice label={s.every} value={every ?? ""} options={optionsOf(common.all, INTERVALS, s.intervals)} onChange={(value) => view.filter("every", value)} />
            <Choice label={s.contents} value={dataset ?? ""} options={optionsOf(common.all, DATASETS, s.datasets)} onChange={(value) => view.filter("dataset", value)} />
          </>
        }
        none={<Empty title={s.noSchedules} text={s.noSchedulesText} />}
        header={<Header variant="h2" description={s.schedulesText} actions={create}>{s.schedules}</Header>}
        columnDefinitions={[
          { id: "what", header: s.contents, isRowHeader: true, cell: what },
          { id: "every", header: s.every, cell: (each) => s.intervals[each.every] ?? each.every },
          { id: "to", header: s.destination, cell: (each) => places.find((place) => place.id === each.connection)?.name ?? common.none },
          { id: "next", header: s.next, cell: (each) => f.moment(each.next_at) },
          { id: "last", header: s.last, cell: (each) => (each.last_error ? each.last_error : each.last_delivered_at ? f.moment(each.last_delivered_at) : common.none) },
          ...(may ? [{
            id: "actions", header: common.actions,
            cell: (each: Schedule) => <Button variant="inline-link" ariaLabel={`${common.remove}: ${each.name}`} onClick={() => setLeaving(each)}>{common.remove}</Button>,
          }] : []),
        ]}
      />
      {creating && <CreateSchedule onClose={() => setCreating(false)} />}
      {leaving && <DeleteDialog name={leaving.name} text={s.deleteScheduleText} remove={() => deleteSchedule(scope, leaving.id)} onClose={() => setLeaving(undefined)} />}
    </>
  );
}

function CreateSchedule({ onClose }: { onClose: () => void }) {
  const { common } = useStrings();
  const s = useExportStrings();
  const flash = useFlash();
  const scope = useBillingScope();
  const [file, setFile] = useState(USUAL_FILE);
  const [every, setEvery] = useState<"day" | "month">("day");
  const [connection, setConnection] = useState("");
  const run = useBillingChange(() => createSchedule(scope, { ...file, every, connection }), () => {
    flash({ type: "success", content: s.scheduled });
    onClose();
  });
  return (
    <Dialog title={s.createSchedule} submit={common.create} ready={connection !== ""} pending={run.isPending} error={run.error} onSubmit={() => run.mutate()} onClose={onClose}>
      <FileFields file={file} onChange={setFile} />
      <FormField label={s.every}>
        <RadioGroup
          value={every}
          onChange={({ detail }) => setEvery(detail.value as "day" | "month")}
          items={[{ value: "day", label: s.intervals.day ?? "", description: s.dayText }, { value: "month", label: s.intervals.month ?? "", description: s.monthlyText }]}
        />
      </FormField>
      <ConnectionField label={s.deliverTo} value={connection} onChange={setConnection} />
    </Dialog>
  );
}
