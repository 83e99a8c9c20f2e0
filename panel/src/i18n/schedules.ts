import { lazyStrings } from "./lazy";

export const useScheduleStrings = lazyStrings({
  en: async () => (await import("./en/schedules")).schedules,
  de: async () => (await import("./de/schedules")).schedules,
});
