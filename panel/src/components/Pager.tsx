import Pagination from "@cloudscape-design/components/pagination";
import { useStrings } from "../i18n";
import type { useCursor } from "./useCursor";

/** The pages of a list; `next` is the cursor that the answer gave. */
export function Pager({ pages, next }: { pages: ReturnType<typeof useCursor>; next: string | null | undefined }) {
  const s = useStrings().common;
  return (
    <Pagination
      {...pages.pagination(next)}
      ariaLabels={{ nextPageLabel: s.nextPage, previousPageLabel: s.previousPage, pageLabel: s.page }}
    />
  );
}
