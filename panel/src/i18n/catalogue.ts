import { lazyStrings } from "./lazy";

export const useCatalogueStrings = lazyStrings({
  en: async () => (await import("./en/catalogue")).catalogue,
  de: async () => (await import("./de/catalogue")).catalogue,
});
