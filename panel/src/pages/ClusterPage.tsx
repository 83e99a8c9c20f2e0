import Button from "@cloudscape-design/components/button";
import ButtonDropdown from "@cloudscape-design/components/button-dropdown";
import ContentLayout from "@cloudscape-design/components/content-layout";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Tabs from "@cloudscape-design/components/tabs";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useParams, useSearchParams } from "react-router";
import { cluster as clusterQuery, type Cluster } from "../api/queries";
import { useMay, useProject } from "../app/Project";
import type { ClusterAction } from "../components/ClusterActionModal";
import { FailedPage } from "../components/Failure";
import { later } from "../components/later";
import { Loading } from "../components/Loading";
import { To } from "../components/To";
import { InZone, useStrings } from "../i18n";
import { Overview } from "./cluster/Overview";

const ClusterActionModal = later(async () => (await import("../components/ClusterActionModal")).ClusterActionModal, null);
const RebuildModal = later(async () => (await import("../components/RebuildModal")).RebuildModal, null);
const ResizeModal = later(async () => (await import("../components/ResizeModal")).ResizeModal, null);
const TopologyTab = later(async () => (await import("./cluster/TopologyTab")).TopologyTab);
const PartitionsTab = later(async () => (await import("./cluster/PartitionsTab")).PartitionsTab);
const RepairsTab = later(async () => (await import("./cluster/RepairsTab")).RepairsTab);
const ScheduleTab = later(async () => (await import("./cluster/ScheduleTab")).ScheduleTab);
const JobsTab = later(async () => (await import("./cluster/JobsTab")).JobsTab);
const ServicesTab = later(async () => (await import("./cluster/ServicesTab")).ServicesTab);
const ConsoleTab = later(async () => (await import("./cluster/ConsoleTab")).ConsoleTab);
const UsageTab = later(async () => (await import("./cluster/UsageTab")).UsageTab);
const EventTable = later(async () => (await import("../components/EventTable")).EventTable);
const RecipeWaits = later(async () => (await import("./recipes/RecipeWaits")).RecipeWaits, null);
const EditCluster = later(async () => (await import("./cluster/EditCluster")).EditCluster, null);

export function ClusterPage() {
  const { cluster: s, clusters } = useStrings();
  const project = useProject();
  const { id = "" } = useParams();
  const [address, setAddress] = useSearchParams();
  const recipe = address.get("recipe");
  const { data: cluster, error, refetch } = useQuery(clusterQuery(project, id));
  if (!cluster) return error ? <FailedPage title={clusters.title} error={error} retry={() => void refetch()} /> : <Loading />;
  return (
    <ContentLayout header={<Title cluster={cluster} />} breadcrumbs={<To href="/clusters">{clusters.title}</To>}>
      {recipe && <RecipeWaits recipe={recipe} cluster={cluster} />}
      <Tabs
        activeTabId={address.get("tab") ?? "overview"}
        onChange={({ detail }) => setAddress({ tab: detail.activeTabId, ...(recipe && { recipe }) }, { replace: true })}
        tabs={[
          { id: "overview", label: s.tabs.overview, content: <Overview cluster={cluster} /> },
          { id: "topology", label: s.tabs.topology, content: <TopologyTab cluster={cluster} /> },
          { id: "partitions", label: s.tabs.partitions, content: <PartitionsTab cluster={cluster} /> },
          { id: "repairs", label: s.tabs.repairs, content: <InZone zone={cluster.repair_window?.time_zone}><RepairsTab cluster={cluster} /></InZone> },
          { id: "schedule", label: s.tabs.schedule, content: <InZone zone={cluster.schedule?.time_zone}><ScheduleTab cluster={cluster} /></InZone> },
          { id: "jobs", label: s.tabs.jobs, content: <JobsTab cluster={cluster} /> },
          { id: "services", label: s.tabs.services, content: <ServicesTab cluster={cluster} /> },
          { id: "console", label: s.tabs.console, content: <ConsoleTab cluster={cluster} /> },
          { id: "usage", label: s.tabs.usage, content: <InZone zone="UTC"><UsageTab cluster={cluster} /></InZone> },
          { id: "activity", label: s.tabs.activity, content: <EventTable subject={cluster.id} /> },
        ]}
      />
    </ContentLayout>
  );
}

function Title({ cluster }: { cluster: Cluster }) {
  const { common, clusters: s } = useStrings();
  const may = useMay("cluster:write");
  const [action, setAction] = useState<ClusterAction | "rebuild" | "resize">();
  const [editing, setEditing] = useState(false);
  const running = ["active", "degraded"].includes(cluster.state);
  const gone = ["deleting", "deleted"].includes(cluster.state);
  return (
    <>
      <Header
        variant="h1"
        actions={may && !gone && (
          <SpaceBetween direction="horizontal" size="xs">
            <Button onClick={() => setEditing(true)}>{common.edit}</Button>
            {cluster.state !== "suspended" && (
              <ButtonDropdown
                disabled={!running || cluster.operation !== null}
                items={[{ id: "reboot", text: s.reboot }, { id: "powerCycle", text: s.powerCycle }, { id: "rebuild", text: s.rebuildItem }]}
                onItemClick={({ detail }) => setAction(detail.id as ClusterAction | "rebuild")}
              >
                {s.restart}
              </ButtonDropdown>
            )}
            {cluster.state !== "suspended" && (
              <Button disabled={!running || cluster.operation !== null} onClick={() => setAction("resize")}>{s.resize}</Button>
            )}
            {cluster.state === "suspended"
              ? <Button onClick={() => setAction("resume")}>{s.resume}</Button>
              : <Button disabled={!running} onClick={() => setAction("suspend")}>{s.suspend}</Button>}
            <Button disabled={cluster.delete_protection} onClick={() => setAction("delete")}>{common.remove}</Button>
          </SpaceBetween>
        )}
      >
        {cluster.name}
      </Header>
      {editing && <EditCluster cluster={cluster} onClose={() => setEditing(false)} />}
      {action === "rebuild" && <RebuildModal cluster={cluster} onClose={() => setAction(undefined)} />}
      {action === "resize" && <ResizeModal cluster={cluster} onClose={() => setAction(undefined)} />}
      {action && action !== "rebuild" && action !== "resize" && <ClusterActionModal action={action} clusters={[cluster]} onClose={() => setAction(undefined)} />}
    </>
  );
}
