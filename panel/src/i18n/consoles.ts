import { lazyStrings } from "./lazy";

export const useConsoleStrings = lazyStrings({
  en: async () => (await import("./en/consoles")).consoles,
  de: async () => (await import("./de/consoles")).consoles,
});
