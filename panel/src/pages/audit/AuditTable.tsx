import Button from "@cloudscape-design/components/button";
import Header from "@cloudscape-design/components/header";
import PropertyFilter, { type PropertyFilterProps } from "@cloudscape-design/components/property-filter";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Table from "@cloudscape-design/components/table";
import Toggle from "@cloudscape-design/components/toggle";
import type { UseQueryResult } from "@tanstack/react-query";
import { useState, type ComponentProps } from "react";
import type { AuditEntry } from "../../api/audit";
import type { Schemas } from "../../api/client";
import { useChoice } from "../../app/Project";
import { Empty } from "../../components/Empty";
import { FailedPage } from "../../components/Failure";
import { later } from "../../components/later";
import { Pager } from "../../components/Pager";
import { SaveCsv } from "../../components/SaveCsv";
import type { useCursor } from "../../components/useCursor";
import { useFormat, useStrings } from "../../i18n";
import { Result } from "./Result";

const EntryDetails = later(async () => (await import("./EntryDetails")).EntryDetails, null);

export const PER_PAGE = 50;

/** What somebody wants to see of the log. */
export type Asked = { tokens: readonly PropertyFilterProps.Token[]; writes: boolean; order: Schemas["Order"] };

export const FIRST: Asked = { tokens: [], writes: true, order: "-created_at" };

/** The list's parameters for the filter's tokens: of each the last counts. */
export function filterOf({ tokens }: Asked): { actor?: string; operation?: string; project?: string } {
  const last = (name: string) => tokens.findLast((each) => each.propertyKey === name)?.value as string | undefined;
  return { actor: last("actor"), operation: last("operation"), project: last("project") };
}

type Props = {
  title: string;
  description: string;
  platform?: boolean;
  found: UseQueryResult<Schemas["AuditEntryPage"]>;
  asked: Asked;
  onAsk: (asked: Asked) => void;
  pages: ReturnType<typeof useCursor>;
  /** Reads a part of what is shown, for a file. */
  read: ComponentProps<typeof SaveCsv>["read"];
};

/** Entries of the audit log with filter and details; `platform`: of every project. */
export function AuditTable({ title, description, platform = false, found, asked, onAsk, pages, read }: Props) {
  const { audit: s, cluster, common, shell } = useStrings();
  const f = useFormat();
  const { projects } = useChoice();
  const [looking, setLooking] = useState<AuditEntry>();
  const { data, error, isPending, isFetching, refetch } = found;
  const options = useAuditFilter(data?.items ?? [], platform);
  const ask = (part: Partial<Asked>) => {
    onAsk({ ...asked, ...part });
    pages.reset();
  };
  if (error && !data) return <FailedPage title={title} error={error} retry={() => void refetch()} />;
  return (
    <>
      <Table
        variant="full-page"
        wrapLines
        trackBy="id"
        items={data?.items ?? []}
        loading={isPending}
        loadingText={common.loading}
        ariaLabels={{ tableLabel: title }}
        header={
          <Header
            variant="awsui-h1-sticky"
            description={description}
            actions={
              <SpaceBetween direction="horizontal" size="xs">
                <SaveCsv name="audit-log" read={read} />
                <Button iconName="refresh" loading={isFetching} onClick={() => void refetch()}>{s.refresh}</Button>
              </SpaceBetween>
            }
          >
            {title}
          </Header>
        }
        filter={
          <SpaceBetween size="xs">
            <PropertyFilter
              query={{ tokens: asked.tokens, operation: "and" }}
              onChange={({ detail }) => ask({ tokens: detail.tokens })}
              filteringPlaceholder={s.find}
              filteringAriaLabel={s.find}
              hideOperations
              disableFreeTextFiltering
              {...options}
            />
            <Toggle checked={!asked.writes} onChange={({ detail }) => ask({ writes: !detail.checked })}>{s.reads}</Toggle>
          </SpaceBetween>
        }
        sortingColumn={{ sortingField: "at" }}
        sortingDescending={asked.order === "-created_at"}
        onSortingChange={({ detail }) => ask({ order: detail.isDescending ? "-created_at" : "created_at" })}
        columnDefinitions={[
          { id: "at", header: cluster.at, sortingField: "at", cell: (each) => f.second(each.at) },
          {
            id: "operation", header: s.operation, minWidth: 190, isRowHeader: true,
            cell: (each) => <Button variant="inline-link" ariaLabel={s.look(each.operation, f.second(each.at))} onClick={() => setLooking(each)}>{each.operation}</Button>,
          },
          { id: "actor", header: s.actor, cell: (each) => each.actor ?? s.nobody },
          { id: "result", header: s.result, minWidth: 170, cell: (each) => <Result entry={each} /> },
          ...(platform ? [{
            id: "project", header: shell.project,
            cell: (each: AuditEntry) => projects.find((one) => one.id === each.project_id)?.slug ?? each.project_id ?? common.none,
          }] : []),
          { id: "address", header: s.address, cell: (each) => each.address },
          { id: "agent", header: s.agent, minWidth: 160, cell: (each) => each.agent || common.none },
        ]}
        pagination={<Pager pages={pages} next={data?.next_cursor} />}
        empty={asked.tokens.length ? <Empty title={common.noMatch} text={common.noMatchText} /> : <Empty title={s.emptyTitle} text={s.emptyText} />}
      />
      {looking && <EntryDetails entry={looking} onClose={() => setLooking(undefined)} />}
    </>
  );
}

/** Actors and operations are offered as the page has them; any other can be typed. */
function useAuditFilter(items: AuditEntry[], platform: boolean): Pick<PropertyFilterProps, "filteringProperties" | "filteringOptions"> {
  const { audit: s, shell } = useStrings();
  const { projects } = useChoice();
  const property = (key: string, label: string) => ({ key, propertyLabel: label, groupValuesLabel: label, operators: ["="] as const });
  const seen = (propertyKey: string, values: (string | null)[]) =>
    [...new Set(values.filter((each) => each !== null))].sort().map((value) => ({ propertyKey, value }));
  return {
    filteringProperties: [property("actor", s.actor), property("operation", s.operation), ...(platform ? [property("project", shell.project)] : [])],
    filteringOptions: [
      ...seen("actor", items.map((each) => each.actor)),
      ...seen("operation", items.map((each) => each.operation)),
      ...(platform ? projects.map((each) => ({ propertyKey: "project", value: each.slug, label: each.name })) : []),
    ],
  };
}
