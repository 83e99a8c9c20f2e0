import StatusIndicator from "@cloudscape-design/components/status-indicator";
import type { Schemas } from "../../api/client";
import { useFormat, useStrings } from "../../i18n";
import { useCatalogueStrings } from "../../i18n/catalogue";

/** How many clusters of a flavor the region has room for now; with `why`, also what is missing. */
export function Stock({ found, why = false }: { found: Schemas["Capacity"] | undefined; why?: boolean }) {
  const { common } = useStrings();
  const s = useCatalogueStrings();
  const f = useFormat();
  if (!found) return <>{common.none}</>;
  if (found.available > 0) return <div className="words"><StatusIndicator type="success">{s.room(f.number(found.available))}</StatusIndicator></div>;
  const missing = why && found.why_not ? `. ${found.why_not.detail}` : "";
  return <div className="words"><StatusIndicator type="warning">{`${s.noRoom}${missing}`}</StatusIndicator></div>;
}
