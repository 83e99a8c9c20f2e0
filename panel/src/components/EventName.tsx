import { useStrings } from "../i18n";

/** An event's type in words: "Cluster is active" for `cluster.active`. */
export function EventName({ type }: { type: string }) {
  const s = useStrings().events;
  const [noun = "", verb = ""] = type.split(".");
  return <>{s.nouns[noun] && s.verbs[verb] ? `${s.nouns[noun]} ${s.verbs[verb]}` : type}</>;
}
