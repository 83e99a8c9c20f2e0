import { lazyStrings } from "./lazy";

export const usePartitionStrings = lazyStrings({
  en: async () => (await import("./en/partitions")).partitions,
  de: async () => (await import("./de/partitions")).partitions,
});
