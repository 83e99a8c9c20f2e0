import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import ButtonDropdown from "@cloudscape-design/components/button-dropdown";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { projectPrices } from "../../api/catalogue";
import type { Schemas } from "../../api/client";
import { regions } from "../../api/queries";
import { SNAPSHOT_SKU, snapshotPage, type Snapshot } from "../../api/snapshots";
import { VOLUME_SKU } from "../../api/volumes";
import { useGo } from "../../app/place";
import { useMay, useProject } from "../../app/Project";
import { Empty } from "../../components/Empty";
import { later } from "../../components/later";
import { PagedTable, useView } from "../../components/PagedTable";
import { To } from "../../components/To";
import { useFormat, useStrings } from "../../i18n";
import { useSnapshotStrings } from "../../i18n/snapshots";
import { useVolumeStrings } from "../../i18n/volumes";

const CreateVolume = later(async () => (await import("./CreateVolume")).CreateVolume, null);
const SnapshotAction = later(async () => (await import("./SnapshotAction")).SnapshotAction, null);
const TakeSnapshot = later(async () => (await import("./TakeSnapshot")).TakeSnapshot, null);

const OPEN: Schemas["SnapshotState"][] = ["creating", "available", "deleting", "error"];
const FILTERS = { all: undefined, open: OPEN, deleted: ["deleted"] satisfies Schemas["SnapshotState"][] };
const KIND = { creating: "in-progress", available: "success", deleting: "in-progress", deleted: "stopped", error: "error" } as const;

type Asked = { snapshot: Snapshot; action: "volume" | "rename" | "delete" };

/** The project's snapshots: copies of volumes and of servers, from which new ones are made. */
export function SnapshotTable() {
  const s = useSnapshotStrings();
  const { snapshots: title } = useVolumeStrings();
  const project = useProject();
  const may = useMay("cluster:write");
  const view = useView<keyof typeof FILTERS>("open");
  const list = useQuery(snapshotPage(project, { state: FILTERS[view.shown], order: view.order, limit: 50, cursor: view.pages.cursor }));
  const prices = useQuery(projectPrices(project)).data?.items;
  const offered = prices?.some((each) => each.sku === SNAPSHOT_SKU);
  const [taking, setTaking] = useState(false);
  const [asked, setAsked] = useState<Asked>();
  const columns = useColumns((snapshot, action) => setAsked({ snapshot, action }));
  const close = () => setAsked(undefined);
  return (
    <>
      <PagedTable
        title={title}
        text={s.text}
        view={view}
        options={s.shown}
        list={list}
        columns={columns}
        actions={may && offered && <Button variant="primary" onClick={() => setTaking(true)}>{s.take}</Button>}
        none={offered === false ? <Empty title={s.notOffered} text={s.notOfferedText} /> : <Empty title={s.emptyTitle} text={s.emptyText} />}
        unfiltered="open"
      />
      {taking && <TakeSnapshot onClose={() => setTaking(false)} />}
      {asked?.action === "volume" && <CreateVolume prices={prices?.filter((each) => each.sku === VOLUME_SKU) ?? []} snapshot={asked.snapshot} onClose={close} />}
      {asked && asked.action !== "volume" && <SnapshotAction snapshot={asked.snapshot} action={asked.action} onClose={close} />}
    </>
  );
}

function useColumns(ask: (snapshot: Snapshot, action: Asked["action"]) => void) {
  const { common } = useStrings();
  const s = useSnapshotStrings();
  const v = useVolumeStrings();
  const f = useFormat();
  const may = useMay("cluster:write");
  const places = useQuery(regions).data?.items;
  const state = (each: Snapshot) => (
    <>
      <StatusIndicator type={KIND[each.state]}>{s.states[each.state]}</StatusIndicator>
      {each.state_reason && <Box variant="small" display="block">{each.state_reason}</Box>}
    </>
  );
  return [
    { id: "name", header: common.name, isRowHeader: true, cell: (each: Snapshot) => each.name },
    { id: "state", header: common.state, minWidth: 140, cell: state },
    { id: "source", header: s.source, cell: (each: Snapshot) => <Source snapshot={each} /> },
    { id: "size", header: v.size, cell: (each: Snapshot) => (each.size_gib === null ? common.none : v.gib(f.number(each.size_gib))) },
    { id: "region", header: v.region, cell: (each: Snapshot) => places?.find((other) => other.slug === each.region)?.name ?? each.region },
    { id: "created", header: common.created, sortingField: "created_at", cell: (each: Snapshot) => f.moment(each.created_at) },
    ...(may ? [{ id: "actions", header: common.actions, cell: (each: Snapshot) => <Actions snapshot={each} ask={ask} /> }] : []),
  ];
}

function Source({ snapshot }: { snapshot: Snapshot }) {
  const s = useSnapshotStrings();
  if (!snapshot.cluster) return s.ofVolume(snapshot.volume_name ?? "");
  return (
    <>
      <To href={`/clusters/${snapshot.cluster}`}>{snapshot.cluster_name}</To>
      <Box variant="small" display="block">{snapshot.poplar_server}</Box>
    </>
  );
}

function Actions({ snapshot, ask }: { snapshot: Snapshot; ask: (snapshot: Snapshot, action: Asked["action"]) => void }) {
  const { common } = useStrings();
  const s = useSnapshotStrings();
  const { actionsOf } = useVolumeStrings();
  const go = useGo();
  if (snapshot.state === "deleted") return null;
  const make = snapshot.cluster ? { id: "cluster", text: s.createCluster } : { id: "volume", text: s.createVolume };
  const going = snapshot.state === "deleting";
  return (
    <ButtonDropdown
      variant="inline-icon"
      expandToViewport
      ariaLabel={actionsOf(snapshot.name)}
      items={[
        { ...make, disabled: snapshot.state !== "available" },
        { id: "rename", text: s.rename, disabled: going },
        { id: "delete", text: common.remove, disabled: going },
      ]}
      onItemClick={({ detail }) => {
        if (detail.id === "cluster") go(`/clusters/create?${new URLSearchParams({ region: snapshot.region, image: snapshot.name })}`);
        else ask(snapshot, detail.id as Asked["action"]);
      }}
    />
  );
}
