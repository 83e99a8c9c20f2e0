import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, body, type Schemas } from "./client";
import { key } from "./queries";

export type Reservation = Schemas["Reservation"];
export type Reserving = Schemas["ReservationCreate"];
export type ReservationListed = { state?: Schemas["ReservationState"][]; order: Schemas["Order"]; limit: number; cursor?: string };

export const reservationPage = (project: string, query: ReservationListed) =>
  queryOptions({
    queryKey: key(project, "reservations", query),
    queryFn: ({ signal }) => body(api.GET("/v1/projects/{project}/reservations", { signal, params: { path: { project }, query } })),
    placeholderData: keepPreviousData,
  });

export const reservation = (project: string, id: string) =>
  queryOptions({
    queryKey: key(project, "reservation", id),
    queryFn: ({ signal }) =>
      body(api.GET("/v1/projects/{project}/reservations/{reservation}", { signal, params: { path: { project, reservation: id } } })),
  });

/** Those from which clusters can be created now. */
export const activeReservations = (project: string) => reservationPage(project, { state: ["active"], order: "-created_at", limit: 100 });

/** What a reservation would cost, and whether it fits. Nothing is reserved. Events do not have it asked for again, like other estimates. */
export const reservationEstimate = (project: string, wanted: Reserving | null) =>
  queryOptions({
    queryKey: ["reservation estimate", project, wanted],
    queryFn: ({ signal }) =>
      body(api.POST("/v1/projects/{project}/reservations:estimate", { signal, params: { path: { project } }, body: wanted as Reserving })),
    enabled: wanted !== null,
    placeholderData: keepPreviousData,
    retry: false,
  });

export const createReservation = (project: string, wanted: Reserving) =>
  body(api.POST("/v1/projects/{project}/reservations", { params: { path: { project } }, body: wanted }));

export const cancelReservation = (project: string, id: string) =>
  body(api.POST("/v1/projects/{project}/reservations/{reservation}:cancel", { params: { path: { project, reservation: id } } }));

/** Whether a reservation can be cancelled at an instant (Unix time in ms), and if not, why. */
export function cancellation({ state, cancel_until: until }: Pick<Reservation, "state" | "cancel_until">, now: number) {
  if (state !== "scheduled") return state;
  if (until === null) return "never";
  return now <= Date.parse(until) ? "possible" : "late";
}
