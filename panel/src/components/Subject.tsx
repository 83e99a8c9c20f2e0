import { useQuery } from "@tanstack/react-query";
import type { Schemas } from "../api/client";
import { cluster, sshKeys } from "../api/queries";
import { useProject } from "../app/Project";
import { useStrings } from "../i18n";
import { To } from "./To";

/** What an event is about: by its name, and as a link where it has a page. */
export function Subject({ event }: { event: Schemas["Event"] }) {
  const s = useStrings().events;
  if (event.subject_type === "cluster") return <ClusterName id={event.subject_id} />;
  if (event.subject_type === "ssh_key") return <KeyName id={event.subject_id} />;
  if (event.subject_type === "reservation") return <To href={`/reservations/${event.subject_id}`}>{String(event.data?.name ?? s.nouns.reservation)}</To>;
  if (event.subject_type === "volume") return <To href="/volumes">{String(event.data?.name ?? s.nouns.volume)}</To>;
  if (event.subject_type === "address") return <To href="/addresses">{String(event.data?.name ?? s.nouns.address)}</To>;
  if (event.subject_type === "snapshot") return <To href="/volumes/snapshots">{String(event.data?.name ?? s.nouns.snapshot)}</To>;
  if (event.subject_type === "job") return <JobName data={event.data ?? {}} />;
  if (event.subject_type === "service" && typeof event.data?.name === "string") return <ServiceName id={event.subject_id} name={event.data.name} data={event.data} />;
  if (event.subject_type === "terminal" && typeof event.data?.cluster === "string") return <>{s.nouns.terminal}: <ClusterName id={event.data.cluster} /></>;
  return <>{s.nouns[event.subject_type] ?? event.subject_type}</>;
}

function ClusterName({ id }: { id: string }) {
  const s = useStrings().events;
  const { data } = useQuery(cluster(useProject(), id));
  return <To href={`/clusters/${id}`}>{data?.name ?? s.nouns.cluster}</To>;
}

function JobName({ data }: { data: Record<string, unknown> }) {
  const s = useStrings().events;
  const { cluster: id, number } = data;
  if (typeof id !== "string" || typeof number !== "number") return <>{s.nouns.job}</>;
  return <To href={`/clusters/${id}/jobs/${number}`}>{`${s.nouns.job} ${number}`}</To>;
}

function ServiceName({ id, name, data }: { id: string; name: string; data: Record<string, unknown> }) {
  const text = `${useStrings().events.nouns.service} ${name}`;
  return typeof data.cluster === "string" ? <To href={`/clusters/${data.cluster}/services/${id}`}>{text}</To> : <>{text}</>;
}

function KeyName({ id }: { id: string }) {
  const s = useStrings().events;
  const { data } = useQuery(sshKeys(useProject()));
  return <>{data?.items.find((key) => key.id === id)?.name ?? s.nouns.ssh_key}</>;
}
