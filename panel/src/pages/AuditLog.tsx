import { useQuery } from "@tanstack/react-query";
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
  const [asked, setAsked] = useState(FIRST);
  const pages = useCursor();
  const may = useMay("audit-log:read");
  const { actor, operation } = filterOf(asked);
  const query = { actor, operation, writes: asked.writes, order: asked.order, limit: PER_PAGE, cursor: pages.cursor };
  const found = useQuery({ ...auditLog(useProject(), query), enabled: may });
  if (!may) return <Empty page title={s.title} text={common.notAllowed} />;
  return <AuditTable title={s.title} description={s.description} found={found} asked={asked} onAsk={setAsked} pages={pages} />;
}
