import { useCollection } from "@cloudscape-design/collection-hooks";
import Pagination from "@cloudscape-design/components/pagination";
import Table, { type TableProps } from "@cloudscape-design/components/table";
import TextFilter from "@cloudscape-design/components/text-filter";
import type { ReactNode } from "react";
import { useStrings } from "../i18n";
import { Empty } from "./Empty";

const PAGE = 50;

type Props<Item> = Omit<TableProps<Item>, "items" | "filter" | "empty"> & {
  items: Item[] | undefined;
  title: string;
  /** What an item is found by. */
  textOf: (item: Item) => string;
  find: string;
  none: ReactNode;
  choices?: ReactNode;
};

/** A list that the API answers as a whole: found by text, sorted by its columns and paged in the browser. */
export function LocalTable<Item>({ items, title, textOf, find, none, choices, ...table }: Props<Item>) {
  const s = useStrings().common;
  const first = table.columnDefinitions.find((each) => each.sortingField || each.sortingComparator);
  const found = useCollection(items ?? [], {
    filtering: {
      filteringFunction: (item, text) => textOf(item).toLowerCase().includes(text.trim().toLowerCase()),
      empty: none,
      noMatch: <Empty title={s.noMatch} text={s.noMatchText} />,
    },
    sorting: first ? { defaultState: { sortingColumn: first } } : {},
    pagination: { pageSize: PAGE },
  });
  const pages = found.paginationProps.pagesCount;
  return (
    <Table<Item>
      wrapLines
      loading={!items}
      loadingText={s.loading}
      ariaLabels={{ tableLabel: title }}
      {...found.collectionProps}
      {...table}
      items={found.items}
      filter={
        <div className="filters">
          <TextFilter {...found.filterProps} filteringPlaceholder={find} filteringAriaLabel={find} />
          {choices}
        </div>
      }
      pagination={pages > 1 && (
        <Pagination {...found.paginationProps} ariaLabels={{ nextPageLabel: s.nextPage, previousPageLabel: s.previousPage, pageLabel: s.page }} />
      )}
    />
  );
}

/** Sorts by a text as people expect it, `m2000-pod16` before `m2000-pod128`. */
export const byText = <Item,>(text: (item: Item) => string) => (one: Item, other: Item) =>
  text(one).localeCompare(text(other), "en", { numeric: true });
