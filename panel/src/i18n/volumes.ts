import { lazyStrings } from "./lazy";

export const useVolumeStrings = lazyStrings({
  en: async () => (await import("./en/volumes")).volumes,
  de: async () => (await import("./de/volumes")).volumes,
});
