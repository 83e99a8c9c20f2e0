import { lazyStrings } from "./lazy";

export const useRecipeStrings = lazyStrings({
  en: async () => (await import("./en/recipes")).recipes,
  de: async () => (await import("./de/recipes")).recipes,
});
