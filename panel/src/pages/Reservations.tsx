import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Header from "@cloudscape-design/components/header";
import Table from "@cloudscape-design/components/table";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useSearchParams } from "react-router";
import type { Schemas } from "../api/client";
import { reservationPage, type Reservation } from "../api/reservations";
import { regions } from "../api/queries";
import { useGo } from "../app/place";
import { useMay, useProject } from "../app/Project";
import { Choice } from "../components/Choice";
import { Empty } from "../components/Empty";
import { FailedPage } from "../components/Failure";
import { later } from "../components/later";
import { Pager } from "../components/Pager";
import { ReservationState } from "../components/ReservationState";
import { To } from "../components/To";
import { useCursor } from "../components/useCursor";
import { useFormat, useStrings } from "../i18n";
import { useReservationStrings } from "../i18n/reservations";
import { useOffers } from "./reservations/useOffers";

const Reserve = later(async () => (await import("./reservations/Reserve")).Reserve, null);

const FILTERS: Record<"all" | "open" | "over", Schemas["ReservationState"][] | undefined> = {
  all: undefined, open: ["scheduled", "active"], over: ["ended", "cancelled"],
};

/** The project's reservations, newest first, and a new one. */
export function Reservations() {
  const { common } = useStrings();
  const s = useReservationStrings();
  const go = useGo();
  const [address, setAddress] = useSearchParams();
  const may = useMay("cluster:write");
  const [shown, setShown] = useState<keyof typeof FILTERS>("all");
  const [order, setOrder] = useState<Schemas["Order"]>("-created_at");
  const pages = useCursor();
  const offers = useOffers();
  const { data, error, isPending, refetch } = useQuery(reservationPage(useProject(), { state: FILTERS[shown], order, limit: 20, cursor: pages.cursor }));
  const columns = useColumns();
  if (error && !data) return <FailedPage title={s.title} error={error} retry={() => void refetch()} />;
  const wanted = address.get("reserve");
  const offered = offers !== undefined && offers.length > 0;
  const reserve = may && offered && <Button variant="primary" onClick={() => setAddress({ reserve: "" })}>{s.reserve}</Button>;
  return (
    <>
      <Table
        variant="full-page"
        stickyHeader
        wrapLines
        trackBy="id"
        items={data?.items ?? []}
        loading={isPending || !offers}
        loadingText={common.loading}
        ariaLabels={{ tableLabel: s.title }}
        header={<Header variant="awsui-h1-sticky" description={s.description} actions={reserve}>{s.title}</Header>}
        filter={<Choice label={common.shown} value={shown} options={s.shown} onChange={(value) => { setShown(value); pages.reset(); }} />}
        pagination={<Pager pages={pages} next={data?.next_cursor} />}
        columnDefinitions={columns}
        sortingColumn={{ sortingField: "created_at" }}
        sortingDescending={order === "-created_at"}
        onSortingChange={({ detail }) => {
          setOrder(detail.isDescending ? "-created_at" : "created_at");
          pages.reset();
        }}
        empty={shown === "all" ? <Nothing offered={offered} /> : <Empty title={common.noMatch} text={common.noMatchText} />}
      />
      {wanted !== null && offered && (
        <Reserve
          offers={offers}
          flavor={wanted}
          region={address.get("region") ?? ""}
          onClose={(made) => (made ? go(`/reservations/${made}`) : setAddress({}, { replace: true }))}
        />
      )}
    </>
  );
}

/** What a reservation is for, and where none is offered, what to do instead. */
function Nothing({ offered }: { offered: boolean }) {
  const s = useReservationStrings();
  const may = useMay("cluster:write");
  return offered
    ? <Empty title={s.emptyTitle} text={s.emptyText} action={may && <To href="/reservations?reserve=">{s.reserve}</To>} />
    : <Empty title={s.notOffered} text={s.notOfferedText} action={may && <To href="/clusters/create">{s.createCluster}</To>} />;
}

function useColumns() {
  const { common } = useStrings();
  const s = useReservationStrings();
  const f = useFormat();
  const places = useQuery(regions).data?.items;
  const until = (each: Reservation) => (each.state === "scheduled" && each.cancel_until ? f.moment(each.cancel_until) : common.none);
  const capacity = (each: Reservation) => (
    <>
      {s.clustersOf(f.number(each.count), each.flavor)}
      <Box variant="small" display="block">{places?.find((other) => other.slug === each.region)?.name ?? each.region}</Box>
    </>
  );
  return [
    { id: "name", header: common.name, isRowHeader: true, cell: (each: Reservation) => <To href={`/reservations/${each.id}`}>{each.name}</To> },
    { id: "state", header: common.state, minWidth: 140, cell: (each: Reservation) => <ReservationState state={each.state} /> },
    { id: "capacity", header: s.capacity, minWidth: 170, cell: capacity },
    { id: "starts", header: s.starts, cell: (each: Reservation) => f.moment(each.starts_at) },
    { id: "ends", header: s.ends, cell: (each: Reservation) => f.moment(each.ends_at) },
    { id: "left", header: s.room, cell: (each: Reservation) => (each.state === "active" ? s.left(f.number(each.left), f.number(each.count)) : common.none) },
    { id: "until", header: s.cancelUntil, cell: until },
    { id: "created", header: common.created, sortingField: "created_at", cell: (each: Reservation) => f.moment(each.created_at) },
  ];
}
