import Button from "@cloudscape-design/components/button";
import type { ButtonProps } from "@cloudscape-design/components/button";
import ContentLayout from "@cloudscape-design/components/content-layout";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { useQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { useParams } from "react-router";
import { cluster as clusterQuery } from "../api/queries";
import { useMay, useProject } from "../app/Project";
import { FailedPage } from "../components/Failure";
import { Loading } from "../components/Loading";
import { To } from "../components/To";
import { useStrings } from "../i18n";
import { Screen, type Standing } from "./terminal/Screen";

/** A shell on a Poplar server. */
export function TerminalPage() {
  const { clusters, terminal: s } = useStrings();
  const project = useProject();
  const { id = "", server = "" } = useParams();
  const { data: cluster, error, refetch } = useQuery(clusterQuery(project, id));
  const may = useMay("cluster:write");
  const [tries, setTries] = useState(0);
  const [standing, setStanding] = useState<Standing>({ state: "connecting" });
  const again = useRef<ButtonProps.Ref>(null);
  if (!cluster) return error ? <FailedPage title={clusters.title} error={error} retry={() => void refetch()} /> : <Loading />;
  const number = cluster.poplar_servers.findIndex((each) => each.id === server) + 1;
  const over = standing.state !== "connecting" && standing.state !== "connected";
  const address = `/v1/projects/${encodeURIComponent(project)}/clusters/${id}/poplar-servers/${encodeURIComponent(server)}/terminal`;
  const reopen = () => {
    setStanding({ state: "connecting" });
    setTries(tries + 1);
  };
  return (
    <ContentLayout
      header={
        <Header variant="h1" description={s.description} actions={<Button ref={again} onClick={reopen}>{over ? s.again : s.anew}</Button>}>
          {s.title(cluster.name, number)}
        </Header>
      }
      breadcrumbs={<To href={`/clusters/${id}`}>{cluster.name}</To>}
    >
      <SpaceBetween size="s">
        <div role="status"><Shown standing={may ? standing : { state: "refused" }} /></div>
        {may && <Screen key={tries} address={address} label={s.title(cluster.name, number)} changed={setStanding} leave={() => again.current?.focus()} />}
      </SpaceBetween>
    </ContentLayout>
  );
}

function Shown({ standing }: { standing: Standing }) {
  const s = useStrings().terminal;
  switch (standing.state) {
    case "connecting": return <StatusIndicator type="in-progress">{s.connecting}</StatusIndicator>;
    case "connected": return <StatusIndicator>{s.connected}</StatusIndicator>;
    case "refused": return <StatusIndicator type="error">{s.refused}</StatusIndicator>;
    case "lost": return <StatusIndicator type="error">{s.lost}</StatusIndicator>;
    case "closed": return <StatusIndicator type={standing.ended_by === "shell" ? "stopped" : "warning"}>{s.endings[standing.ended_by] ?? standing.detail}</StatusIndicator>;
  }
}
