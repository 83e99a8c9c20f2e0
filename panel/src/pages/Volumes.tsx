import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Tabs from "@cloudscape-design/components/tabs";
import { useParams } from "react-router";
import { useGo } from "../app/place";
import { later } from "../components/later";
import { useVolumeStrings } from "../i18n/volumes";
import { VolumeTable } from "./volumes/VolumeTable";

const SnapshotTable = later(async () => (await import("./volumes/SnapshotTable")).SnapshotTable);

/** The project's storage that outlives clusters: volumes, and snapshots of them. */
export function Volumes() {
  const s = useVolumeStrings();
  const go = useGo();
  const { tab = "volumes" } = useParams();
  return (
    <SpaceBetween size="m">
      <Header variant="h1" description={s.description}>{s.title}</Header>
      <Tabs
        activeTabId={tab}
        onChange={({ detail }) => go(detail.activeTabId === "volumes" ? "/volumes" : `/volumes/${detail.activeTabId}`)}
        ariaLabel={s.title}
        tabs={[
          { id: "volumes", label: s.title, content: <VolumeTable /> },
          { id: "snapshots", label: s.snapshots, content: <SnapshotTable /> },
        ]}
      />
    </SpaceBetween>
  );
}
