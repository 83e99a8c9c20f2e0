import { lazyStrings } from "./lazy";

export const useTroubleStrings = lazyStrings({
  en: async () => (await import("./en/trouble")).trouble,
  de: async () => (await import("./de/trouble")).trouble,
});
