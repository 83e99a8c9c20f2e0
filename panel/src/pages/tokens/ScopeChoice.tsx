import Checkbox from "@cloudscape-design/components/checkbox";
import RadioGroup from "@cloudscape-design/components/radio-group";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Field } from "../../components/Field";
import { useTokenStrings } from "../../i18n/tokens";

type Props = { offered: readonly string[]; all: boolean; chosen: readonly string[] | null; onChange: (chosen: string[] | null) => void };

/** Everything that the role allows (null), if `all` can be given, or only some of the `offered` scopes. */
export function ScopeChoice({ offered, all, chosen, onChange }: Props) {
  const s = useTokenStrings();
  const toggled = (scope: string, checked: boolean) => offered.filter((each) => (each === scope ? checked : chosen?.includes(each)));
  return (
    <SpaceBetween size="xs">
      <Field at="/scopes" label={s.scopes} description={all ? s.scopesText : s.scopesOwn}>
        <RadioGroup
          value={chosen === null ? "all" : "some"}
          onChange={({ detail }) => onChange(detail.value === "all" ? null : [])}
          items={[{ value: "all", label: s.scopesAll, disabled: !all }, { value: "some", label: s.scopesSome }]}
        />
      </Field>
      {chosen !== null && offered.map((scope) => (
        <Checkbox key={scope} checked={chosen.includes(scope)} onChange={({ detail }) => onChange(toggled(scope, detail.checked))}>
          <code>{scope}</code>
        </Checkbox>
      ))}
    </SpaceBetween>
  );
}
