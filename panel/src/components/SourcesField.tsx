import Textarea from "@cloudscape-design/components/textarea";
import { useStrings } from "../i18n";
import { Field } from "./Field";

/** Networks from which something may be used; `text` is what a person has typed. */
export function SourcesField({ text, onChange, description }: { text: string; onChange: (text: string) => void; description: string }) {
  const { cluster: s } = useStrings();
  return (
    <Field at="/allowed_sources" label={s.sources} description={description}>
      <Textarea value={text} onChange={({ detail }) => onChange(detail.value)} rows={2} placeholder={"203.0.113.0/24\n2001:db8:42::/48"} spellcheck={false} />
    </Field>
  );
}
