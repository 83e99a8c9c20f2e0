import Header from "@cloudscape-design/components/header";
import Table, { type TableProps } from "@cloudscape-design/components/table";
import type { UseQueryResult } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import type { Schemas } from "../api/client";
import { useStrings } from "../i18n";
import { Choice } from "./Choice";
import { Empty } from "./Empty";
import { Failure } from "./Failure";
import { Pager } from "./Pager";
import { useCursor } from "./useCursor";

/** What somebody looks at in a list that is paged by cursors: which of its items, in which order, from where on. */
export function useView<Shown extends string>(first: Shown) {
  const [shown, setShown] = useState(first);
  const [order, setOrder] = useState<Schemas["Order"]>("-created_at");
  const pages = useCursor();
  return {
    shown,
    order,
    pages,
    show: (value: Shown) => { setShown(value); pages.reset(); },
    sort: (descending: boolean) => { setOrder(descending ? "-created_at" : "created_at"); pages.reset(); },
  };
}

type Props<Item, Shown extends string> = {
  title: string;
  text: string;
  view: ReturnType<typeof useView<Shown>>;
  /** What can be shown, by its value; `all` is everything. */
  options: Record<Shown, string>;
  list: UseQueryResult<{ items: Item[]; next_cursor: string | null }>;
  columns: TableProps.ColumnDefinition<Item>[];
  actions?: ReactNode;
  /** What is shown while there is nothing at all. */
  none: ReactNode;
  /** The choice besides `all` with which `none` is what an empty list says. */
  unfiltered?: Shown;
};

/** A list of a cluster or of a webhook, newest first, with a filter and pages of the API. */
export function PagedTable<Item extends { id: string }, Shown extends string>({ title, text, view, options, list, columns, actions, none, unfiltered }: Props<Item, Shown>) {
  const { common } = useStrings();
  const { data, error, isPending, refetch } = list;
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  return (
    <Table
      variant="container"
      wrapLines
      trackBy="id"
      items={data?.items ?? []}
      loading={isPending}
      loadingText={common.loading}
      ariaLabels={{ tableLabel: title }}
      header={<Header variant="h2" description={text} actions={actions}>{title}</Header>}
      filter={<Choice label={common.shown} value={view.shown} options={options} onChange={view.show} />}
      sortingColumn={{ sortingField: "created_at" }}
      sortingDescending={view.order === "-created_at"}
      onSortingChange={({ detail }) => view.sort(detail.isDescending ?? false)}
      columnDefinitions={columns}
      pagination={<Pager pages={view.pages} next={data?.next_cursor} />}
      empty={view.shown === "all" || view.shown === unfiltered ? none : <Empty title={common.noMatch} text={common.noMatchText} />}
    />
  );
}
