import Header from "@cloudscape-design/components/header";
import Table from "@cloudscape-design/components/table";
import { useQuery } from "@tanstack/react-query";
import { accountEvents } from "../api/billing";
import type { Schemas } from "../api/client";
import { eventPage } from "../api/queries";
import { useProject } from "../app/Project";
import { useFormat, useStrings } from "../i18n";
import { Empty } from "./Empty";
import { Failure } from "./Failure";
import { EventName } from "./EventName";
import { Pager } from "./Pager";
import { Subject } from "./Subject";
import { useCursor } from "./useCursor";

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
  const ofProject = useQuery({ ...eventPage(project, { subject, limit: 30, cursor: pages.cursor }), enabled: account === undefined });
  const ofAccount = useQuery({ ...accountEvents(account ?? "", { limit: 30, cursor: pages.cursor }), enabled: account !== undefined });
  const { data, error, isPending, refetch } = account === undefined ? ofProject : ofAccount;
  const part = subject !== undefined || account !== undefined;
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  return (
    <Table
      variant={part ? "container" : "full-page"}
      wrapLines
      trackBy="id"
      items={data?.items ?? []}
      loading={isPending}
      loadingText={common.loading}
      ariaLabels={{ tableLabel: events.title }}
      header={<Header variant={part ? "h2" : "awsui-h1-sticky"} description={part ? undefined : events.description}>{events.title}</Header>}
      columnDefinitions={[
        { id: "at", header: s.at, cell: (each) => f.moment(each.at) },
        { id: "event", header: s.event, isRowHeader: true, cell: (each) => <EventName type={each.type} /> },
        ...(subject ? [] : [{ id: "about", header: events.about, cell: (each: Schemas["Event"]) => <Subject event={each} /> }]),
        { id: "actor", header: events.actor, cell: (each) => each.actor ?? common.none },
        { id: "details", header: events.details, cell: (each) => details(each.data, s.operations) || common.none },
      ]}
      pagination={<Pager pages={pages} next={data?.next_cursor} />}
      empty={<Empty title={s.noEvents} text={subject ? s.noEventsText : account ? events.accountText : events.emptyText} />}
    />
  );
}
