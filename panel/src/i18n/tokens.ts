import { lazyStrings } from "./lazy";

export const useTokenStrings = lazyStrings({
  en: async () => (await import("./en/tokens")).tokens,
  de: async () => (await import("./de/tokens")).tokens,
});
