import { I18nProvider } from "@cloudscape-design/components/i18n";
import type { I18nProviderProps } from "@cloudscape-design/components/i18n";
import { createContext, use, useEffect, useMemo, useState, type ReactNode } from "react";
import type { Messages } from "./en";
import { formats, type Formats } from "./format";

export type Language = "en" | "de";
type Loaded = { language: Language; strings: Messages; cloudscape: I18nProviderProps.Messages };
type Known = { strings: Messages; format: Formats; language: Language; choose: (language: Language) => void };

const Texts = createContext<Known | null>(null);

function known(): Known {
  const texts = use(Texts);
  if (!texts) throw new Error("pages are shown within <Localised>");
  return texts;
}

export const useStrings = () => known().strings;
export const useFormat = () => known().format;
export const useLanguage = () => {
  const { language, choose } = known();
  return { language, choose };
};

async function load(language: Language): Promise<Loaded> {
  if (language === "de") {
    const [own, theirs] = await Promise.all([import("./de"), import("@cloudscape-design/components/i18n/messages/all.de")]);
    return { language, strings: own.de, cloudscape: theirs.default };
  }
  const [own, theirs] = await Promise.all([import("./en"), import("@cloudscape-design/components/i18n/messages/all.en")]);
  return { language, strings: own.en, cloudscape: theirs.default };
}

function preferred(): Language {
  return (localStorage.getItem("language") ?? navigator.language).startsWith("de") ? "de" : "en";
}

/** The texts of the chosen language, loaded when it is chosen. */
export function Localised({ children }: { children: ReactNode }) {
  const [language, setLanguage] = useState<Language>(preferred);
  const [loaded, setLoaded] = useState<Loaded>();
  useEffect(() => {
    let current = true;
    void load(language).then((texts) => current && setLoaded(texts));
    document.documentElement.lang = language;
    return () => { current = false; };
  }, [language]);
  const texts = useMemo(() => loaded && {
    strings: loaded.strings,
    format: formats(loaded.language),
    language: loaded.language,
    choose: (next: Language) => {
      localStorage.setItem("language", next);
      setLanguage(next);
    },
  }, [loaded]);
  if (!loaded || !texts) return null;
  return (
    <I18nProvider locale={loaded.language} messages={[loaded.cloudscape]}>
      <Texts value={texts}>{children}</Texts>
    </I18nProvider>
  );
}
