import { I18nProvider } from "@cloudscape-design/components/i18n";
import type { I18nProviderProps } from "@cloudscape-design/components/i18n";
import { createContext, use, useEffect, useMemo, useState, type ReactNode } from "react";
import type { Messages } from "./en";
import { formats, type Formats } from "./format";
import { SPOKEN, type Problems } from "./problems";

export type Language = "en" | "de";
type Loaded = { language: Language; strings: Messages; problems: Problems; cloudscape: I18nProviderProps.Messages };
type Zone = { zone: string; chooseZone: (zone: string) => void };
type Known = Zone & { strings: Messages; problems: Problems; format: Formats; language: Language; choose: (language: Language) => void };

const Texts = createContext<Known | null>(null);

function known(): Known {
  const texts = use(Texts);
  if (!texts) throw new Error("pages are shown within <Localised>");
  return texts;
}

export const useStrings = () => known().strings;
export const useFormat = () => known().format;
export const useZone = (): Zone => known();
export const useProblems = () => known().problems;
export const useLanguage = () => {
  const { language, choose } = known();
  return { language, choose };
};

async function load(language: Language): Promise<Loaded> {
  if (language === "de") {
    const [own, { problems }, theirs] = await Promise.all([import("./de"), import("./de/problems"), import("@cloudscape-design/components/i18n/messages/all.de")]);
    return { language, strings: own.de, problems, cloudscape: theirs.default };
  }
  const [own, theirs] = await Promise.all([import("./en"), import("@cloudscape-design/components/i18n/messages/all.en")]);
  return { language, strings: own.en, problems: SPOKEN, cloudscape: theirs.default };
}

function preferred(): Language {
  return (localStorage.getItem("language") ?? navigator.language).startsWith("de") ? "de" : "en";
}

/** The browser's own time zone. */
export const hereZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";

/** What is inside has its times in this zone, whatever is chosen. */
export function InZone({ zone, children }: { zone: string | undefined; children: ReactNode }) {
  const around = known();
  const texts = useMemo(() => (zone ? { ...around, format: formats(around.language, zone) } : around), [around, zone]);
  return <Texts value={texts}>{children}</Texts>;
}

/** The texts of the chosen language, loaded when it is chosen. */
export function Localised({ children }: { children: ReactNode }) {
  const [language, setLanguage] = useState<Language>(preferred);
  const [zone, setZone] = useState(() => localStorage.getItem("time-zone") ?? hereZone());
  const [loaded, setLoaded] = useState<Loaded>();
  useEffect(() => {
    let current = true;
    void load(language).then((texts) => current && setLoaded(texts));
    document.documentElement.lang = language;
    return () => { current = false; };
  }, [language]);
  const texts = useMemo(() => loaded && {
    strings: loaded.strings,
    problems: loaded.problems,
    format: formats(loaded.language, zone),
    zone,
    chooseZone: (next: string) => {
      if (next === hereZone()) localStorage.removeItem("time-zone"); // a browser that travels shows the time where it is
      else localStorage.setItem("time-zone", next);
      setZone(next);
    },
    language: loaded.language,
    choose: (next: Language) => {
      localStorage.setItem("language", next);
      setLanguage(next);
    },
  }, [loaded, zone]);
  if (!loaded || !texts) return null;
  return (
    <I18nProvider locale={loaded.language} messages={[loaded.cloudscape]}>
      <Texts value={texts}>{children}</Texts>
    </I18nProvider>
  );
}
