import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import ButtonDropdown from "@cloudscape-design/components/button-dropdown";
import Header from "@cloudscape-design/components/header";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import Table from "@cloudscape-design/components/table";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { projectPrices } from "../../api/catalogue";
import type { Schemas } from "../../api/client";
import { regions } from "../../api/queries";
import { SNAPSHOT_SKU, snapshotPage } from "../../api/snapshots";
import { volumePage, VOLUME_SKU, type Volume } from "../../api/volumes";
import { useMay, useProject } from "../../app/Project";
import { Choice } from "../../components/Choice";
import { Copyable } from "../../components/Copyable";
import { Empty } from "../../components/Empty";
import { Failure } from "../../components/Failure";
import { later } from "../../components/later";
import { useView } from "../../components/PagedTable";
import { Pager } from "../../components/Pager";
import { To } from "../../components/To";
import { useFormat, useStrings } from "../../i18n";
import { useVolumeStrings } from "../../i18n/volumes";

const CreateVolume = later(async () => (await import("./CreateVolume")).CreateVolume, null);
const VolumeAction = later(async () => (await import("./VolumeAction")).VolumeAction, null);

const OPEN: Schemas["VolumeState"][] = ["creating", "available", "attaching", "attached", "detaching", "resizing", "deleting", "error"];
const FILTERS = { all: undefined, open: OPEN, deleted: ["deleted"] satisfies Schemas["VolumeState"][] };
const KIND = {
  creating: "in-progress", available: "success", attaching: "in-progress", attached: "success", detaching: "in-progress", resizing: "in-progress",
  deleting: "in-progress", deleted: "stopped", error: "error",
} as const;

export type Action = "attach" | "detach" | "grow" | "snapshot" | "delete";

/** The project's volumes. */
export function VolumeTable() {
  const { common } = useStrings();
  const s = useVolumeStrings();
  const project = useProject();
  const may = useMay("cluster:write");
  const view = useView<keyof typeof FILTERS>("open");
  const { data, error, isPending, refetch } = useQuery(volumePage(project, { state: FILTERS[view.shown], order: view.order, limit: 50, cursor: view.pages.cursor }));
  const prices = useQuery(projectPrices(project)).data?.items;
  const offered = prices?.filter((each) => each.sku === VOLUME_SKU) ?? [];
  const [creating, setCreating] = useState(false);
  const [asked, setAsked] = useState<{ volume: Volume; action: Action }>();
  const copied = new Set(prices?.filter((each) => each.sku === SNAPSHOT_SKU).map((each) => each.region));
  const columns = useColumns(copied, useOrigins(data?.items), (volume, action) => setAsked({ volume, action }));
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  const create = may && offered.length > 0 && <Button variant="primary" onClick={() => setCreating(true)}>{s.create}</Button>;
  const none = prices && !offered.length ? <Empty title={s.notOffered} text={s.notOfferedText} /> : <Empty title={s.emptyTitle} text={s.emptyText} />;
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
        header={<Header variant="h2" description={s.text} actions={create}>{s.title}</Header>}
        filter={<Choice label={common.shown} value={view.shown} options={s.shown} onChange={view.show} />}
        pagination={<Pager pages={view.pages} next={data?.next_cursor} />}
        columnDefinitions={columns}
        sortingColumn={{ sortingField: "created_at" }}
        sortingDescending={view.order === "-created_at"}
        onSortingChange={({ detail }) => view.sort(detail.isDescending ?? false)}
        empty={view.shown === "deleted" ? <Empty title={common.noMatch} text={common.noMatchText} /> : none}
      />
      {creating && <CreateVolume prices={offered} onClose={() => setCreating(false)} />}
      {asked && <VolumeAction {...asked} onClose={() => setAsked(undefined)} />}
    </>
  );
}

/** The names of the snapshots that these volumes were made from, by their ids; without those that are deleted. */
function useOrigins(volumes: Volume[] | undefined): Map<string, string> {
  const made = volumes?.some((each) => each.snapshot !== null) ?? false;
  const { data } = useQuery({ ...snapshotPage(useProject(), { order: "-created_at", limit: 200 }), enabled: made });
  return new Map(data?.items.map((each) => [each.id, each.name]));
}

/** `copied`: the regions that offer snapshots. `origins`: names of snapshots by their ids. */
function useColumns(copied: Set<string>, origins: Map<string, string>, ask: (volume: Volume, action: Action) => void) {
  const { common } = useStrings();
  const s = useVolumeStrings();
  const f = useFormat();
  const may = useMay("cluster:write");
  const places = useQuery(regions).data?.items;
  const state = (each: Volume) => (
    <>
      <StatusIndicator type={KIND[each.state]}>{s.states[each.state]}</StatusIndicator>
      {each.state_reason && <Box variant="small" display="block">{each.state_reason}</Box>}
    </>
  );
  const name = (each: Volume) => {
    const origin = origins.get(each.snapshot ?? "");
    return <>{each.name}{origin && <Box variant="small" display="block">{s.madeFrom(origin)}</Box>}</>;
  };
  const size = (each: Volume) => each.resizing_to_gib === null ? s.gib(f.number(each.size_gib)) : s.growing(f.number(each.size_gib), f.number(each.resizing_to_gib));
  return [
    { id: "name", header: common.name, isRowHeader: true, cell: name },
    { id: "state", header: common.state, minWidth: 140, cell: state },
    { id: "size", header: s.size, cell: size },
    { id: "region", header: s.region, cell: (each: Volume) => places?.find((other) => other.slug === each.region)?.name ?? each.region },
    { id: "cluster", header: s.cluster, cell: (each: Volume) => each.cluster ? <To href={`/clusters/${each.cluster}`}>{each.cluster_name}</To> : common.none },
    { id: "path", header: s.path, cell: (each: Volume) => (each.mount_path ? <Copyable text={each.mount_path} label={s.path} /> : common.none) },
    { id: "created", header: common.created, sortingField: "created_at", cell: (each: Volume) => f.moment(each.created_at) },
    ...(may ? [{ id: "actions", header: common.actions, cell: (each: Volume) => <Actions volume={each} copied={copied.has(each.region)} ask={ask} /> }] : []),
  ];
}

function Actions({ volume, copied, ask }: { volume: Volume; copied: boolean; ask: (volume: Volume, action: Action) => void }) {
  const { common } = useStrings();
  const s = useVolumeStrings();
  if (volume.state === "deleted") return null;
  const free = volume.state === "available";
  return (
    <ButtonDropdown
      variant="inline-icon"
      expandToViewport
      ariaLabel={s.actionsOf(volume.name)}
      items={[
        { id: "attach", text: s.attach, disabled: !free },
        { id: "detach", text: s.detach, disabled: volume.state !== "attached" },
        { id: "grow", text: s.grow, disabled: !free && volume.state !== "attached" },
        ...(copied ? [{ id: "snapshot", text: s.snapshot, disabled: !free && volume.state !== "attached" }] : []),
        { id: "delete", text: common.remove, disabled: !free && volume.state !== "error" },
      ]}
      onItemClick={({ detail }) => ask(volume, detail.id as Action)}
    />
  );
}
