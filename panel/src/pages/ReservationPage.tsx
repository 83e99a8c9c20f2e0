import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import ContentLayout from "@cloudscape-design/components/content-layout";
import Header from "@cloudscape-design/components/header";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useParams } from "react-router";
import { priceAt, projectPrices, times } from "../api/catalogue";
import { cancellation, reservation as reservationQuery, type Reservation } from "../api/reservations";
import { regions } from "../api/queries";
import { useGo } from "../app/place";
import { useMay, useProject } from "../app/Project";
import { FailedPage } from "../components/Failure";
import { later } from "../components/later";
import { Loading } from "../components/Loading";
import { ReservationState } from "../components/ReservationState";
import { To } from "../components/To";
import { useFormat, useStrings } from "../i18n";
import { useReservationStrings } from "../i18n/reservations";
import { createAddress } from "./catalogue/addresses";
import { ClustersOf } from "./reservations/ClustersOf";

const CancelReservation = later(async () => (await import("./reservations/CancelReservation")).CancelReservation, null);

/** A reservation: what it holds, until when it can be cancelled, and the clusters that use it. */
export function ReservationPage() {
  const s = useReservationStrings();
  const { id = "" } = useParams();
  const { data, error, refetch } = useQuery(reservationQuery(useProject(), id));
  const [cancelling, setCancelling] = useState(false);
  if (!data) return error ? <FailedPage title={s.title} error={error} retry={() => void refetch()} /> : <Loading />;
  return (
    <ContentLayout
      header={<Header variant="h1" actions={<Actions reservation={data} onCancel={() => setCancelling(true)} />}>{data.name}</Header>}
      breadcrumbs={<To href="/reservations">{s.title}</To>}
    >
      <SpaceBetween size="l">
        <Facts reservation={data} />
        <ClustersOf reservation={data} />
      </SpaceBetween>
      {cancelling && <CancelReservation reservation={data} onClose={() => setCancelling(false)} />}
    </ContentLayout>
  );
}

function Actions({ reservation, onCancel }: { reservation: Reservation; onCancel: () => void }) {
  const s = useReservationStrings();
  const f = useFormat();
  const go = useGo();
  const may = useMay("cluster:write");
  const { state, flavor, region, id, left, starts_at: starts } = reservation;
  const cancels = cancellation(reservation, Date.now());
  if (!may || !["scheduled", "active"].includes(state)) return null;
  const cannot = state === "scheduled" ? s.later(f.moment(starts)) : left === 0 ? s.full : undefined;
  return (
    <SpaceBetween direction="horizontal" size="xs">
      {state === "scheduled" && (
        <Button disabled={cancels !== "possible"} disabledReason={cancels !== "possible" ? words(s, f, reservation, cancels) : undefined} onClick={onCancel}>
          {s.cancel}
        </Button>
      )}
      <Button variant="primary" disabled={cannot !== undefined} disabledReason={cannot} onClick={() => go(createAddress(flavor, region, { reservation: id }))}>
        {s.createFrom}
      </Button>
    </SpaceBetween>
  );
}

/** Whether and until when it can be cancelled. */
function words(s: ReturnType<typeof useReservationStrings>, f: ReturnType<typeof useFormat>, { cancel_until: until }: Reservation, cancels: string) {
  return s.cancellation[cancels]?.(until ? f.moment(until) : "");
}

function Facts({ reservation }: { reservation: Reservation }) {
  const { common } = useStrings();
  const s = useReservationStrings();
  const f = useFormat();
  const { state, starts_at: starts, ends_at: ends } = reservation;
  const place = useQuery(regions).data?.items.find((each) => each.slug === reservation.region)?.name ?? reservation.region;
  const active = state === "active";
  return (
    <Container header={<Header variant="h2">{s.overview}</Header>}>
      <KeyValuePairs
        columns={4}
        items={[
          { label: common.state, value: <ReservationState state={state} /> },
          { label: s.since, value: f.moment(reservation.state_entered_at) },
          { label: s.starts, value: f.moment(starts) },
          { label: s.ends, value: f.moment(ends) },
          { label: s.capacity, value: s.clustersOf(f.number(reservation.count), reservation.flavor) },
          ...(active ? [{ label: s.room, value: s.left(f.number(reservation.left), f.number(reservation.count)) }] : []),
          { label: s.machines, value: `${f.number(reservation.machines)} × ${reservation.machine_type}` },
          { label: s.region, value: place },
          { label: s.costNow, value: <Cost reservation={reservation} /> },
          { label: s.sku, value: reservation.sku },
          { label: s.time, value: f.duration((Date.parse(ends) - Date.parse(starts)) / 1000) },
          { label: s.cancelling, value: words(s, f, reservation, cancellation(reservation, Date.now())) },
        ]}
      />
    </Container>
  );
}

/** What all of its minutes cost at the price that is in force: bills have the price of each minute. */
function Cost({ reservation }: { reservation: Reservation }) {
  const { common } = useStrings();
  const s = useReservationStrings();
  const f = useFormat();
  const { sku, region, currency, machines, starts_at: starts, ends_at: ends, state } = reservation;
  const price = priceAt(useQuery(projectPrices(useProject())).data?.items ?? [], { sku, region, currency }, Date.now());
  if (!price || state === "cancelled") return <>{common.none}</>;
  const minutes = (Date.parse(ends) - Date.parse(starts)) / 60_000;
  return (
    <>
      {f.money(times(price.unit_price, machines * minutes))}
      <Box variant="small" display="block">{s.perHour(f.money(times(price.unit_price, 60 * machines)))}</Box>
    </>
  );
}
