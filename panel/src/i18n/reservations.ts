import { lazyStrings } from "./lazy";

export const useReservationStrings = lazyStrings({
  en: async () => (await import("./en/reservations")).reservations,
  de: async () => (await import("./de/reservations")).reservations,
});
