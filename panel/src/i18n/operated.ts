import { lazyStrings } from "./lazy";

export const useOperatedStrings = lazyStrings({
  en: async () => (await import("./en/operated")).operated,
  de: async () => (await import("./de/operated")).operated,
});
