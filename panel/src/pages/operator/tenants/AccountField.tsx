import FormField from "@cloudscape-design/components/form-field";
import Select from "@cloudscape-design/components/select";
import { useQuery } from "@tanstack/react-query";
import { allAccounts, type Account } from "../../../api/tenants";
import { useStrings } from "../../../i18n";
import { useTenantStrings } from "../../../i18n/tenants";

type Props = { label: string; value: string; everybody?: boolean; without?: string; onChange: (id: string, account?: Account) => void };

/** A billing account; `everybody`: or none, which is the empty text. */
export function AccountField({ label, value, everybody = false, without, onChange }: Props) {
  const { common } = useStrings();
  const s = useTenantStrings();
  const { data, isPending } = useQuery(allAccounts);
  const known = (data ?? []).filter((each) => each.id !== without);
  const options = [
    ...(everybody ? [{ value: "", label: s.everybody }] : []),
    ...known.map((each) => ({ value: each.id, label: each.name, description: each.currency })),
  ];
  return (
    <FormField label={label}>
      <Select
        placeholder={s.chooseAccount}
        options={options}
        selectedOption={options.find((each) => each.value === value) ?? null}
        filteringType="auto"
        onChange={({ detail }) => onChange(detail.selectedOption.value ?? "", known.find((each) => each.id === detail.selectedOption.value))}
        statusType={isPending ? "loading" : "finished"}
        loadingText={common.loading}
        empty={common.noMatch}
      />
    </FormField>
  );
}
