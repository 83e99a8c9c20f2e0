import RadioGroup from "@cloudscape-design/components/radio-group";
import { ROLES, type ProjectRole } from "../../api/people";
import { Field } from "../../components/Field";
import { useStrings } from "../../i18n";
import { useTokenStrings } from "../../i18n/tokens";

/** The roles in a project, with what each may do. */
export function RoleChoice({ value, onChange }: { value: string; onChange: (role: ProjectRole) => void }) {
  const { shell } = useStrings();
  const s = useTokenStrings();
  return (
    <Field at="/role" label={s.role}>
      <RadioGroup
        value={value}
        onChange={({ detail }) => onChange(detail.value as ProjectRole)}
        items={ROLES.map((each) => ({ value: each, label: shell.roles[each] ?? each, description: s.roleText[each] }))}
      />
    </Field>
  );
}
