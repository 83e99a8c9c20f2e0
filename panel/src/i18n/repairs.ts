import { lazyStrings } from "./lazy";

export const useRepairStrings = lazyStrings({
  en: async () => (await import("./en/repairs")).repairs,
  de: async () => (await import("./de/repairs")).repairs,
});
