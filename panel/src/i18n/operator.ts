import { lazyStrings } from "./lazy";

export const useOperatorStrings = lazyStrings({
  en: async () => (await import("./en/operator")).operator,
  de: async () => (await import("./de/operator")).operator,
});
