import Header from "@cloudscape-design/components/header";
import Pagination from "@cloudscape-design/components/pagination";
import Table from "@cloudscape-design/components/table";
import { useQuery } from "@tanstack/react-query";
import type { Schemas } from "../api/client";
import { eventPage } from "../api/queries";
import { useProject } from "../app/Project";
import { useFormat, useStrings } from "../i18n";
import { Empty } from "./Empty";
import { Failure } from "./Failure";
import { EventName } from "./EventName";
import { Subject } from "./Subject";
import { useCursor } from "./useCursor";

/** An event's data in a line: the kind of an operation by its name, the rest as the API has it. */
function details(data: Schemas["Event"]["data"], kinds: Record<string, string>): string {
  return Object.entries(data ?? {})
    .filter(([name, value]) => ["string", "number"].includes(typeof value) && !/^[0-9a-f]{8}-[0-9a-f-]{27}$/.test(String(value)) && name !== "faults")
    .map(([, value]) => kinds[String(value)] ?? String(value))
    .join(", ");
}

/** Events of the project, or of one object, newest first. */
export function EventTable({ subject }: { subject?: string }) {
  const { common, cluster: s, events } = useStrings();
  const f = useFormat();
  const project = useProject();
  const pages = useCursor();
  const { data, error, isPending, refetch } = useQuery(eventPage(project, { subject, limit: 30, cursor: pages.cursor }));
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  return (
    <Table
      variant={subject ? "container" : "full-page"}
      wrapLines
      trackBy="id"
      items={data?.items ?? []}
      loading={isPending}
      loadingText={common.loading}
      ariaLabels={{ tableLabel: events.title }}
      header={<Header variant={subject ? "h2" : "awsui-h1-sticky"} description={subject ? undefined : events.description}>{events.title}</Header>}
      columnDefinitions={[
        { id: "at", header: s.at, cell: (each) => f.moment(each.at) },
        { id: "event", header: s.event, isRowHeader: true, cell: (each) => <EventName type={each.type} /> },
        ...(subject ? [] : [{ id: "about", header: events.about, cell: (each: Schemas["Event"]) => <Subject event={each} /> }]),
        { id: "details", header: events.details, cell: (each) => details(each.data, s.operations) || common.none },
      ]}
      pagination={
        <Pagination
          {...pages.pagination(data?.next_cursor)}
          ariaLabels={{ nextPageLabel: common.nextPage, previousPageLabel: common.previousPage, pageLabel: common.page }}
        />
      }
      empty={<Empty title={s.noEvents} text={subject ? s.noEventsText : events.emptyText} />}
    />
  );
}
