import { ConnectionList } from "./billing/exports/ConnectionList";

/** The project's buckets, for those who give them to clusters. */
export function S3Connections() {
  return <ConnectionList page />;
}
