import { useState } from "react";

/** Pages of a list that is paged by cursors: forward by the last answer's, back by those remembered. `reset` for a new filter. */
export function useCursor() {
  const [cursors, setCursors] = useState<(string | undefined)[]>([undefined]);
  const [index, setIndex] = useState(0);
  return {
    cursor: cursors[index],
    index,
    reset: () => {
      setCursors([undefined]);
      setIndex(0);
    },
    pagination: (next: string | null | undefined) => ({
      currentPageIndex: index + 1,
      pagesCount: next ? Math.max(index + 2, cursors.length) : index + 1,
      openEnd: Boolean(next),
      onChange: ({ detail }: { detail: { currentPageIndex: number } }) => {
        const wanted = detail.currentPageIndex - 1;
        if (wanted >= cursors.length && next) setCursors([...cursors.slice(0, index + 1), next]);
        setIndex(Math.min(wanted, index + 1));
      },
    }),
  };
}
