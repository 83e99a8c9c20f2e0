import { lazyStrings } from "./lazy";

export const useServiceStrings = lazyStrings({
  en: async () => (await import("./en/services")).services,
  de: async () => (await import("./de/services")).services,
});
