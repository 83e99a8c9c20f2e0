import Table, { type TableProps } from "@cloudscape-design/components/table";
import TextFilter from "@cloudscape-design/components/text-filter";
import { useState, type ReactNode } from "react";
import { useStrings } from "../i18n";
import { Empty } from "./Empty";
import { Pager } from "./Pager";
import type { useListView } from "./useListView";

type Props<Item> = Omit<TableProps<Item>, "items" | "filter" | "empty" | "pagination"> & {
  title: string;
  view: Pick<ReturnType<typeof useListView>, "pages" | "order" | "filtered" | "sort">;
  /** The answer of the API; undefined before it is there. */
  page: { items: Item[]; next_cursor: string | null } | undefined;
  filters?: ReactNode;
  /** What is shown while there is nothing at all. */
  none: ReactNode;
};

/** A list that the API filters, orders and pages. Columns that it can be ordered by have the order's name as `sortingField`. */
export function ListTable<Item>({ title, view, page, filters, none, ...table }: Props<Item>) {
  const s = useStrings().common;
  return (
    <Table<Item>
      wrapLines
      trackBy={"id" as never}
      loading={!page}
      loadingText={s.loading}
      ariaLabels={{ tableLabel: title }}
      {...table}
      items={page?.items ?? []}
      filter={filters && <div className="filters">{filters}</div>}
      sortingColumn={{ sortingField: view.order.replace("-", "") }}
      sortingDescending={view.order.startsWith("-")}
      onSortingChange={({ detail }) => view.sort(detail.sortingColumn.sortingField ?? "created_at", detail.isDescending ?? false)}
      pagination={<Pager pages={view.pages} next={page?.next_cursor} />}
      empty={view.filtered ? <Empty title={s.noMatch} text={s.noMatchText} /> : none}
    />
  );
}

/** A filter by text, sent when somebody stops typing. */
export function Find({ label, value, onChange }: { label: string; value: string | undefined; onChange: (text: string) => void }) {
  const [text, setText] = useState(value ?? "");
  return (
    <TextFilter
      filteringText={text}
      filteringPlaceholder={label}
      filteringAriaLabel={label}
      onChange={({ detail }) => setText(detail.filteringText)}
      onDelayedChange={({ detail }) => onChange(detail.filteringText.trim())}
    />
  );
}
