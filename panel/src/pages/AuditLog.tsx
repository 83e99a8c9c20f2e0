import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { auditLog } from "../api/audit";
import { useMay, useProject } from "../app/Project";
import { Empty } from "../components/Empty";
import { useCursor } from "../components/useCursor";
import { useStrings } from "../i18n";
import { AuditTable, filterOf, FIRST, PER_PAGE } from "./audit/AuditTable";

/** Who asked for what in the project. */
export function AuditLog() {
  const { audit: s, common } = useStrings();
  const project = useProject();
  const [asked, setAsked] = useState(FIRST);
  const pages = useCursor();
  const cache = useQueryClient();
  const may = useMay("audit-log:read");
  const { actor, operation } = filterOf(asked);
  const query = { actor, operation, writes: asked.writes, order: asked.order };
  const found = useQuery({ ...auditLog(project, { ...query, limit: PER_PAGE, cursor: pages.cursor }), enabled: may });
  const read = (part: { limit: number; cursor?: string }) => cache.fetchQuery({ ...auditLog(project, { ...query, ...part }), staleTime: 0 });
  if (!may) return <Empty page title={s.title} text={common.notAllowed} />;
  return <AuditTable title={s.title} description={s.description} found={found} asked={asked} onAsk={setAsked} pages={pages} read={read} />;
}
