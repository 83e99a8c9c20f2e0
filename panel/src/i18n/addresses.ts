import { lazyStrings } from "./lazy";

export const useAddressStrings = lazyStrings({
  en: async () => (await import("./en/addresses")).addresses,
  de: async () => (await import("./de/addresses")).addresses,
});
