import Header from "@cloudscape-design/components/header";
import Table from "@cloudscape-design/components/table";
import { useQuery } from "@tanstack/react-query";
import { eventPage } from "../../api/queries";
import { useProject } from "../../app/Project";
import { Empty } from "../../components/Empty";
import { EventName } from "../../components/EventName";
import { Failure } from "../../components/Failure";
import { Subject } from "../../components/Subject";
import { To } from "../../components/To";
import { useFormat, useStrings } from "../../i18n";

const SHOWN = 8;

export function LatestEvents() {
  const { cluster, common, events, home: s } = useStrings();
  const f = useFormat();
  const { data, error, isPending, refetch } = useQuery(eventPage(useProject(), { limit: SHOWN }));
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  return (
    <Table
      variant="container"
      trackBy="id"
      items={data?.items ?? []}
      loading={isPending}
      loadingText={common.loading}
      ariaLabels={{ tableLabel: s.events }}
      header={<Header variant="h2" actions={<To href="/events">{s.allEvents}</To>}>{s.events}</Header>}
      columnDefinitions={[
        { id: "at", header: cluster.at, cell: (each) => f.moment(each.at) },
        { id: "event", header: cluster.event, isRowHeader: true, cell: (each) => <EventName type={each.type} /> },
        { id: "about", header: events.about, cell: (each) => <Subject event={each} /> },
      ]}
      empty={<Empty title={cluster.noEvents} text={events.emptyText} />}
    />
  );
}
