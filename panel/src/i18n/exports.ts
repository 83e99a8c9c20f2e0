import { lazyStrings } from "./lazy";

export const useExportStrings = lazyStrings({
  en: async () => (await import("./en/exports")).exports,
  de: async () => (await import("./de/exports")).exports,
});
