import Link from "@cloudscape-design/components/link";
import type { Schemas } from "../../api/client";

/** Where a figure is from. Only addresses of the web become links. */
export function SourceLink({ source }: { source: Schemas["Source"] }) {
  const { title, url } = source;
  return url && /^https?:\/\//.test(url) ? <Link href={url} external>{title}</Link> : <>{title}</>;
}
