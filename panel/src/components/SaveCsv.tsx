import Button from "@cloudscape-design/components/button";
import { useMutation } from "@tanstack/react-query";
import { useFlash } from "../app/Flashes";
import { useStrings } from "../i18n";
import { csvOf } from "./csv";
import { save } from "./save";

const PER_REQUEST = 1_000;
const MOST = 10_000;

type Page = { items: object[]; next_cursor: string | null };
type Props = { name: string; read: (part: { limit: number; cursor?: string }) => Promise<Page> };

/** Saves what a list shows, all pages of it, as a CSV file; of a very long one the first 10,000 entries. */
export function SaveCsv({ name, read }: Props) {
  const s = useStrings().common;
  const flash = useFlash();
  const run = useMutation({
    mutationFn: async () => {
      const items: object[] = [];
      let cursor: string | null | undefined;
      do {
        const page: Page = await read({ limit: PER_REQUEST, ...(cursor && { cursor }) });
        items.push(...page.items);
        cursor = page.next_cursor;
      } while (cursor && items.length < MOST);
      // Without a byte order mark spreadsheet programs read it as of another encoding than UTF-8.
      save(`${name}.csv`, `\ufeff${csvOf(items)}`, "text/csv;charset=utf-8");
      return cursor ? items.length : undefined;
    },
    onSuccess: (cut) => { if (cut) flash({ type: "info", content: s.csvCut(cut) }); },
    onError: (error) => flash({ type: "error", content: error.message }),
  });
  return <Button iconName="download" loading={run.isPending} onClick={() => run.mutate()}>{s.csv}</Button>;
}
