import { use } from "react";
import { useLanguage, type Language } from "./index";

/** Texts of a part of the panel that few visits open. They are loaded with it: a component that uses them suspends until then. */
export function lazyStrings<Strings>(load: Record<Language, () => Promise<Strings>>): () => Strings {
  const loaded = new Map<Language, Promise<Strings>>();
  return function useLazyStrings() {
    const { language } = useLanguage();
    const texts = loaded.get(language) ?? load[language]();
    loaded.set(language, texts);
    return use(texts);
  };
}
