import Header from "@cloudscape-design/components/header";
import Table from "@cloudscape-design/components/table";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { accountEvents } from "../api/billing";
import type { Schemas } from "../api/client";
import { TYPES_OF } from "../api/live";
import { eventPage } from "../api/queries";
import { useProject } from "../app/Project";
import { useFormat, useStrings } from "../i18n";
import { Actor } from "./Actor";
import { Choice } from "./Choice";
import { Empty } from "./Empty";
import { FailedPage, Failure } from "./Failure";
import { EventName } from "./EventName";
import { Pager } from "./Pager";
import { SaveCsv } from "./SaveCsv";
import { Subject } from "./Subject";
import { useCursor } from "./useCursor";

const ALL = "all";

/** An event's data in a line: the kind of an operation by its name, the rest as the API has it. */
export function details(data: Schemas["Event"]["data"], kinds: Record<string, string>): string {
  return Object.entries(data ?? {})
    .filter(([name, value]) => ["string", "number"].includes(typeof value) && !/^[0-9a-f]{8}-[0-9a-f-]{27}$/.test(String(value)) && name !== "faults")
    .map(([, value]) => kinds[String(value)] ?? String(value))
    .join(", ");
}

/** Events of the project, of one of its objects, or of a billing account, newest first. */
export function EventTable({ subject, account }: { subject?: string; account?: string }) {
  const { common, cluster: s, events } = useStrings();
  const f = useFormat();
  const project = useProject();
  const pages = useCursor();
  const cache = useQueryClient();
  const [noun, setNoun] = useState(ALL);
  const [order, setOrder] = useState<Schemas["Order"]>("-created_at");
  const asked = { subject, order, ...(noun !== ALL && { type: TYPES_OF[noun] }) };
  const ofProject = useQuery({ ...eventPage(project, { ...asked, limit: 30, cursor: pages.cursor }), enabled: account === undefined });
  const ofAccount = useQuery({ ...accountEvents(account ?? "", { limit: 30, cursor: pages.cursor }), enabled: account !== undefined });
  const { data, error, isPending, refetch } = account === undefined ? ofProject : ofAccount;
  const part = subject !== undefined || account !== undefined;
  if (error && !data) {
    const retry = () => void refetch();
    return part ? <Failure error={error} retry={retry} /> : <FailedPage title={events.title} error={error} retry={retry} />;
  }
  const csv = account === undefined && (
    <SaveCsv name={events.title.toLowerCase()} read={(part) => cache.fetchQuery({ ...eventPage(project, { ...asked, ...part }), staleTime: 0 })} />
  );
  const nouns = Object.fromEntries(Object.keys(TYPES_OF).map((each) => [each, events.nouns[each] ?? each]).sort((one, other) => (one[1] ?? "").localeCompare(other[1] ?? "")));
  return (
    <Table
      variant={part ? "container" : "full-page"}
      wrapLines
      trackBy="id"
      items={data?.items ?? []}
      loading={isPending}
      loadingText={common.loading}
      ariaLabels={{ tableLabel: events.title }}
      header={<Header variant={part ? "h2" : "awsui-h1-sticky"} description={part ? undefined : events.description} actions={csv}>{events.title}</Header>}
      filter={part ? undefined : <Choice label={events.noun} value={noun} options={{ [ALL]: events.all, ...nouns }} onChange={(value) => { setNoun(value); pages.reset(); }} />}
      {...(account === undefined && {
        sortingColumn: { sortingField: "at" },
        sortingDescending: order === "-created_at",
        onSortingChange: ({ detail }: { detail: { isDescending?: boolean } }) => {
          setOrder(detail.isDescending ? "-created_at" : "created_at");
          pages.reset();
        },
      })}
      columnDefinitions={[
        { id: "at", header: s.at, ...(account === undefined && { sortingField: "at" }), cell: (each) => f.moment(each.at) },
        { id: "event", header: s.event, isRowHeader: true, cell: (each) => <EventName type={each.type} /> },
        ...(subject ? [] : [{ id: "about", header: events.about, cell: (each: Schemas["Event"]) => <Subject event={each} /> }]),
        { id: "actor", header: events.actor, cell: (each) => <Actor event={each} /> },
        { id: "details", header: events.details, cell: (each) => details(each.data, s.operations) || common.none },
      ]}
      pagination={<Pager pages={pages} next={data?.next_cursor} />}
      empty={noun !== ALL ? <Empty title={common.noMatch} text={common.noMatchText} /> : <Empty title={s.noEvents} text={subject ? s.noEventsText : account ? events.accountText : events.emptyText} />}
    />
  );
}
