import { lazyStrings } from "./lazy";

export const useTenantStrings = lazyStrings({
  en: async () => (await import("./en/tenants")).tenants,
  de: async () => (await import("./de/tenants")).tenants,
});
