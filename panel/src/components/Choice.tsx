import Select from "@cloudscape-design/components/select";
import { useStrings } from "../i18n";

/** Of more options than these one is found by typing. */
const FEW = 12;

type Props<Value extends string> = { label: string; value: Value; options: Record<Value, string>; onChange: (value: Value) => void };

/** The options of a filter that need not be used: its value is then "". */
export const optionsOf = (all: string, values: readonly string[], words: Record<string, string>): Record<string, string> =>
  ({ "": all, ...Object.fromEntries(values.map((each) => [each, words[each] ?? each])) });

/** A filter of a list: one of a few values. */
export function Choice<Value extends string>({ label, value, options, onChange }: Props<Value>) {
  const s = useStrings().common;
  const all = (Object.keys(options) as Value[]).map((each) => ({ value: each, label: options[each] }));
  return (
    <div className="narrow">
      <Select
        inlineLabelText={label}
        options={all}
        filteringType={all.length > FEW ? "auto" : "none"}
        filteringAriaLabel={label}
        empty={s.noMatch}
        selectedOption={all.find((each) => each.value === value) ?? null}
        onChange={({ detail }) => onChange(detail.selectedOption.value as Value)}
      />
    </div>
  );
}
