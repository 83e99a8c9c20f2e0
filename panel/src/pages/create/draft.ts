import { quote } from "shlex";
import type { Schemas } from "../../api/client";
import { networksIn } from "../../components/networks";
import type { Tag } from "../../components/TagEditor";

/** `reservation`: the id of the one that it is created from; empty: of none. `servers`: the number of Poplar servers; undefined: the
 *  flavor's. `sources`: networks from which SSH is let in, as typed. `buckets`: names of S3 connections. `volumes`: names of volumes in the region, for the first server. `expires`: the instant at which it is deleted; empty: never. `wait`: for machines, instead of being refused. `preemptible`: for less, until others need them. */
export type Draft = {
  reservation: string; region: string; flavor: string; servers?: number; image: string; keys: string[]; name: string; tags: Tag[]; protect: boolean;
  sources: string; buckets: string[]; volumes: string[]; expires: string; wait: boolean; preemptible: boolean;
};
export type Change = (change: Partial<Draft>) => void;

export const EMPTY: Draft = {
  reservation: "", region: "", flavor: "", image: "", keys: [], name: "", tags: [], protect: false, sources: "", buckets: [], volumes: [], expires: "", wait: false, preemptible: false,
};

const STORED = "new cluster";

/** What was entered in this tab, if it began with the same questions; the storage ends with the tab. */
export function keptDraft(project: string, asked: string): Draft | undefined {
  const kept = JSON.parse(sessionStorage.getItem(STORED) ?? "null") as { project: string; asked: string; draft: Draft } | null;
  return kept && kept.project === project && kept.asked === asked ? { ...EMPTY, ...kept.draft } : undefined;
}

export const keepDraft = (project: string, asked: string, draft: Draft) => sessionStorage.setItem(STORED, JSON.stringify({ project, asked, draft }));
export const dropDraft = () => sessionStorage.removeItem(STORED);

const LONGEST = 63;

/** What is wrong with a name, of the two things that can be. */
export function faultOfName(typed: string): "form" | "length" | null {
  const name = typed.trim();
  if (name.length > LONGEST) return "length";
  return /^[a-z]([a-z0-9-]*[a-z0-9])?$/.test(name) ? null : "form";
}

/** The request that the draft stands for. */
export function requestOf(draft: Draft): Schemas["ClusterCreate"] {
  const tags = draft.tags.filter((tag) => tag.key !== "");
  const sources = networksIn(draft.sources);
  return {
    name: draft.name.trim(),
    region: draft.region,
    flavor: draft.flavor,
    image: draft.image,
    ssh_keys: draft.keys,
    ...(draft.servers && { poplar_servers: draft.servers }),
    ...(tags.length && { tags: Object.fromEntries(tags.map((tag) => [tag.key, tag.value])) }),
    ...(draft.protect && { delete_protection: true }),
    ...(sources.length && { allowed_sources: sources }),
    ...(draft.buckets.length && { s3_connections: draft.buckets }),
    ...(draft.volumes.length && { volumes: draft.volumes.map((volume) => ({ volume })) }),
    ...(draft.expires && { expires_at: draft.expires }),
    ...(draft.wait && { wait_for_capacity: true }),
    ...(draft.reservation && { reservation: draft.reservation }),
    ...(draft.preemptible && { preemptible: true }),
  };
}

export function asCommand(draft: Draft): string {
  const { name, region, flavor, image, tags } = requestOf(draft);
  return [
    `ipucloud clusters create ${quote(name)}`,
    `--region ${quote(region)}`,
    `--flavor ${quote(flavor)}`,
    `--image ${quote(image)}`,
    ...(draft.servers ? [`--poplar-servers ${draft.servers}`] : []),
    ...draft.keys.map((key) => `--ssh-key ${quote(key)}`),
    ...Object.entries(tags ?? {}).map(([key, value]) => `--tag ${quote(`${key}=${value}`)}`),
    ...(draft.protect ? ["--protect"] : []),
    ...networksIn(draft.sources).map((network) => `--allow-from ${quote(network)}`),
    ...draft.buckets.map((bucket) => `--s3-connection ${quote(bucket)}`),
    ...draft.volumes.map((volume) => `--volume ${quote(volume)}`),
    ...(draft.expires ? [`--expires-at ${draft.expires}`] : []),
    ...(draft.wait ? ["--wait-for-capacity"] : []),
    ...(draft.reservation ? [`--reservation ${quote(draft.reservation)}`] : []),
    ...(draft.preemptible ? ["--preemptible"] : []),
  ].join(" \\\n  ");
}

export function asCurl(draft: Draft, project: string, origin: string): string {
  return [
    `curl -sS --fail-with-body -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" \\`,
    `  -H "Idempotency-Key: ${draft.name.trim()}-$(date +%s)" ${quote(`${origin}/v1/projects/${project}/clusters`)} \\`,
    `  -d ${quote(JSON.stringify(requestOf(draft)))}`,
  ].join("\n");
}

/** A literal of Python: those of JSON are, but for the constants, which are no part of this request's texts. */
const python = (value: string | string[] | Record<string, string>) => JSON.stringify(value);

export function asPython(draft: Draft, project: string, origin: string): string {
  const { name, region, flavor, image, tags } = requestOf(draft);
  const fields = [
    `    ${python(name)},`,
    `    region=${python(region)},`,
    `    flavor=${python(flavor)},`,
    `    image=${python(image)},`,
    `    ssh_keys=${python(draft.keys)},`,
    ...(draft.servers ? [`    poplar_servers=${draft.servers},`] : []),
    ...(tags ? [`    tags=${python(tags)},`] : []),
    ...(draft.protect ? ["    delete_protection=True,"] : []),
    ...(networksIn(draft.sources).length ? [`    allowed_sources=${python(networksIn(draft.sources))},`] : []),
    ...(draft.buckets.length ? [`    s3_connections=${python(draft.buckets)},`] : []),
    ...(draft.volumes.length ? [`    volumes=${python(draft.volumes)},`] : []),
    ...(draft.expires ? [`    expires_at=datetime.fromisoformat(${python(draft.expires.replace("Z", "+00:00"))}),`] : []),
    ...(draft.wait ? ["    wait_for_capacity=True,"] : []),
    ...(draft.reservation ? [`    reservation=${python(draft.reservation)},`] : []),
    ...(draft.preemptible ? ["    preemptible=True,"] : []),
  ];
  return [
    "import os",
    ...(draft.expires ? ["from datetime import datetime"] : []),
    "",
    "from ipucloud.client import Client, NewCluster, clusters",
    "",
    `client = Client(url=${python(origin)}, token=os.environ["TOKEN"], project=${python(project)})`,
    "new = NewCluster(",
    ...fields,
    ")",
    "operation = client.run(clusters.create(new))",
  ].join("\n");
}
