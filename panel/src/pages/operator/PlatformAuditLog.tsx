import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { platformAuditLog } from "../../api/audit";
import { useMay } from "../../app/Project";
import { Empty } from "../../components/Empty";
import { useCursor } from "../../components/useCursor";
import { useStrings } from "../../i18n";
import { AuditTable, filterOf, FIRST, PER_PAGE } from "../audit/AuditTable";

/** For operators: who asked for what, in every project and outside of projects. */
export function PlatformAuditLog() {
  const { audit: s, common } = useStrings();
  const [asked, setAsked] = useState(FIRST);
  const pages = useCursor();
  const cache = useQueryClient();
  const may = useMay("platform:read");
  const query = { ...filterOf(asked), writes: asked.writes, order: asked.order };
  const found = useQuery({ ...platformAuditLog({ ...query, limit: PER_PAGE, cursor: pages.cursor }), enabled: may });
  const read = (part: { limit: number; cursor?: string }) => cache.fetchQuery({ ...platformAuditLog({ ...query, ...part }), staleTime: 0 });
  if (!may) return <Empty page title={s.platformTitle} text={common.notAllowed} />;
  return <AuditTable platform title={s.platformTitle} description={s.platformDescription} found={found} asked={asked} onAsk={setAsked} pages={pages} read={read} />;
}
