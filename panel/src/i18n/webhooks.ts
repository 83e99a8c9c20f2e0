import { lazyStrings } from "./lazy";

export const useWebhookStrings = lazyStrings({
  en: async () => (await import("./en/webhooks")).webhooks,
  de: async () => (await import("./de/webhooks")).webhooks,
});
