import { lazyStrings } from "./lazy";

export const useSnapshotStrings = lazyStrings({
  en: async () => (await import("./en/snapshots")).snapshots,
  de: async () => (await import("./de/snapshots")).snapshots,
});
