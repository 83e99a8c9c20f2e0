import { lazyStrings } from "./lazy";

export const useBudgetStrings = lazyStrings({
  en: async () => (await import("./en/money")).budgets,
  de: async () => (await import("./de/money")).budgets,
});

export const useFundsStrings = lazyStrings({
  en: async () => (await import("./en/money")).funds,
  de: async () => (await import("./de/money")).funds,
});
