import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Table from "@cloudscape-design/components/table";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError, type Schemas } from "../../api/client";
import { partitionPage, type Partition } from "../../api/partitions";
import { topology, type Cluster } from "../../api/queries";
import { useMay, useProject } from "../../app/Project";
import { Choice } from "../../components/Choice";
import { Empty } from "../../components/Empty";
import { Failure } from "../../components/Failure";
import { OperationNotice } from "../../components/OperationNotice";
import { Pager } from "../../components/Pager";
import { Legend } from "../../components/topology/Legend";
import { Topology } from "../../components/topology/Topology";
import { useCursor } from "../../components/useCursor";
import { later } from "../../components/later";
import { useStrings } from "../../i18n";
import { usePartitionStrings } from "../../i18n/partitions";
import { usePartitionColumns, usePartitionName } from "./partitions/columns";
import type { PartitionAction } from "./partitions/PartitionActionModal";
import { PartitionFacts } from "./partitions/PartitionFacts";

const CreatePartition = later(async () => (await import("./partitions/CreatePartition")).CreatePartition, null);
const PartitionActionModal = later(async () => (await import("./partitions/PartitionActionModal")).PartitionActionModal, null);

const FILTERS: Record<"present" | "error" | "removed", Schemas["PartitionState"][] | undefined> = {
  present: undefined, error: ["error", "unknown", "missing"], removed: ["removed"],
};
const IN_USE = ["active", "degraded"];

/** The cluster's partitions, and where they lie; choosing one in the table or in the picture shows it in both. */
export function PartitionsTab({ cluster }: { cluster: Cluster }) {
  const { common } = useStrings();
  const s = usePartitionStrings();
  const project = useProject();
  const may = useMay("cluster:write") && IN_USE.includes(cluster.state);
  const [shown, setShown] = useState<keyof typeof FILTERS>("present");
  const [order, setOrder] = useState<Schemas["Order"]>("created_at");
  const pages = useCursor();
  const list = useQuery(partitionPage(project, cluster.id, { state: FILTERS[shown], order, limit: 20, cursor: pages.cursor }));
  const [picked, setPicked] = useState<string>();
  const [creating, setCreating] = useState(false);
  const [asked, setAsked] = useState<{ action: PartitionAction; partition: Partition }>();
  const [followed, setFollowed] = useState<string>();
  const columns = usePartitionColumns(may ? (action, partition) => setAsked({ action, partition }) : undefined);
  const name = usePartitionName();
  const items = list.data?.items ?? [];
  const chosen = items.find((each) => each.partition_id === picked);
  if (list.error && !list.data) return <Failure error={list.error} retry={() => void list.refetch()} />;
  const create = may && <Button onClick={() => setCreating(true)}>{s.create}</Button>;
  return (
    <SpaceBetween size="l">
      {followed && <OperationNotice id={followed} onDismiss={() => setFollowed(undefined)} />}
      <Table
        variant="container"
        wrapLines
        trackBy="id"
        items={items}
        loading={list.isPending}
        loadingText={common.loading}
        columnDefinitions={columns}
        selectionType="single"
        selectedItems={chosen ? [chosen] : []}
        onSelectionChange={({ detail }) => setPicked(detail.selectedItems[0]?.partition_id)}
        sortingColumn={{ sortingField: "created_at" }}
        sortingDescending={order === "-created_at"}
        onSortingChange={({ detail }) => {
          setOrder(detail.isDescending ? "-created_at" : "created_at");
          pages.reset();
        }}
        ariaLabels={{ tableLabel: s.title, selectionGroupLabel: common.selection, itemSelectionLabel: (_, item) => common.select(name(item)) }}
        header={<Header variant="h2" description={s.description} actions={create}>{s.title}</Header>}
        filter={<Choice label={common.shown} value={shown} options={s.shownStates} onChange={(value) => { setShown(value); pages.reset(); }} />}
        pagination={<Pager pages={pages} next={list.data?.next_cursor} />}
        empty={shown === "present" ? <Empty title={s.emptyTitle} text={s.emptyText} /> : <Empty title={s.emptyTitle} text={shown === "removed" ? s.noneRemoved : common.noMatchText} />}
      />
      <Picture cluster={cluster} picked={picked} onPick={setPicked} partition={chosen} />
      {creating && <CreatePartition cluster={cluster} onClose={(operation) => { setCreating(false); if (operation) setFollowed(operation); }} />}
      {asked && (
        <PartitionActionModal
          cluster={cluster.id}
          action={asked.action}
          partition={asked.partition}
          last={items.length === 1 && !list.data?.next_cursor}
          onClose={(operation) => { setAsked(undefined); if (operation) setFollowed(operation); }}
        />
      )}
    </SpaceBetween>
  );
}

type PictureProps = { cluster: Cluster; picked?: string; partition?: Partition; onPick: (partition: string | undefined) => void };

function Picture({ cluster, picked, partition, onPick }: PictureProps) {
  const s = usePartitionStrings();
  const working = cluster.operation !== null && !cluster.operation.done;
  const { data, error, refetch } = useQuery(topology(useProject(), cluster.id, working));
  if (error instanceof ApiError && error.status === 409) return null;
  if (!data) return error ? <Failure error={error} retry={() => void refetch()} /> : null;
  if (!data.machines.length) return null;
  /** A machine may have several partitions: choosing it again goes on to its next. */
  const pick = (machine: string) => {
    const found = data.machines.find((each) => each.name === machine)?.ipus.flatMap((ipu) => ipu.partition ?? []) ?? [];
    const own = [...new Set(found)];
    onPick(own[(own.indexOf(picked ?? "") + 1) % Math.max(1, own.length)]);
  };
  return (
    <Container header={<Header variant="h2" description={s.pick}>{s.picture}</Header>}>
      <div className="topology-panel">
        <Topology data={data} partition={picked} onSelect={pick} />
        <div className="topology-side">
          <Legend data={data} />
          <div aria-live="polite">{partition && <PartitionFacts partition={partition} />}</div>
        </div>
      </div>
    </Container>
  );
}
