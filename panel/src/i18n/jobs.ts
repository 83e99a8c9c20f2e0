import { lazyStrings } from "./lazy";

export const useJobStrings = lazyStrings({
  en: async () => (await import("./en/jobs")).jobs,
  de: async () => (await import("./de/jobs")).jobs,
});
