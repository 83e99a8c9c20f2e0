import Button from "@cloudscape-design/components/button";
import Header from "@cloudscape-design/components/header";
import Table from "@cloudscape-design/components/table";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { cluster } from "../../api/queries";
import type { Reservation } from "../../api/reservations";
import { useProject } from "../../app/Project";
import { ClusterState } from "../../components/ClusterState";
import { Empty } from "../../components/Empty";
import { To } from "../../components/To";
import { useFormat, useStrings } from "../../i18n";
import { useReservationStrings } from "../../i18n/reservations";

const SHOWN = 10; // each is read by itself

/** The clusters that hold a reservation's machines. */
export function ClustersOf({ reservation }: { reservation: Reservation }) {
  const { common } = useStrings();
  const s = useReservationStrings();
  const f = useFormat();
  const [all, setAll] = useState(false);
  const { clusters } = reservation;
  const shown = all ? clusters : clusters.slice(0, SHOWN);
  return (
    <Table
      variant="container"
      wrapLines
      items={shown.map((id) => ({ id }))}
      trackBy="id"
      ariaLabels={{ tableLabel: s.clusters }}
      header={<Header variant="h2" counter={`(${f.number(clusters.length)})`} description={s.clustersText}>{s.clusters}</Header>}
      columnDefinitions={[
        { id: "name", header: s.cluster, isRowHeader: true, cell: ({ id }) => <Name id={id} /> },
        { id: "state", header: common.state, cell: ({ id }) => <State id={id} /> },
        { id: "created", header: common.created, cell: ({ id }) => <Created id={id} /> },
      ]}
      footer={shown.length < clusters.length && <Button onClick={() => setAll(true)}>{common.all}</Button>}
      empty={<Empty title={s.noClusters} text={s.noClustersText[reservation.state]} />}
    />
  );
}

const useCluster = (id: string) => useQuery(cluster(useProject(), id)).data;

function Name({ id }: { id: string }) {
  return <To href={`/clusters/${id}`}>{useCluster(id)?.name ?? id}</To>;
}

function State({ id }: { id: string }) {
  const found = useCluster(id);
  return found ? <ClusterState cluster={found} /> : null;
}

function Created({ id }: { id: string }) {
  const f = useFormat();
  const found = useCluster(id);
  return <>{found && f.moment(found.created_at)}</>;
}
