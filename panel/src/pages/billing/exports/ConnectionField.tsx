import FormField from "@cloudscape-design/components/form-field";
import Select from "@cloudscape-design/components/select";
import { useQuery } from "@tanstack/react-query";
import { connections } from "../../../api/exports";
import { useBillingScope } from "../../../app/useBillingScope";
import { useStrings } from "../../../i18n";
import { useExportStrings } from "../../../i18n/exports";

type Props = { label: string; value: string; optional?: boolean; onChange: (connection: string) => void };

/** One of the buckets of whoever pays; empty where it is only to be downloaded. */
export function ConnectionField({ label, value, optional = false, onChange }: Props) {
  const { common } = useStrings();
  const s = useExportStrings();
  const { data, isPending } = useQuery(connections(useBillingScope()));
  const known = (data?.items ?? []).map((each) => ({ value: each.id, label: each.name, description: each.bucket }));
  const options = [...(optional ? [{ value: "", label: s.onlyDownload }] : []), ...known];
  return (
    <FormField label={label}>
      <Select
        placeholder={s.chooseConnection}
        options={options}
        selectedOption={options.find((each) => each.value === value) ?? null}
        onChange={({ detail }) => onChange(detail.selectedOption.value ?? "")}
        statusType={isPending ? "loading" : "finished"}
        loadingText={common.loading}
        empty={s.noConnections}
      />
    </FormField>
  );
}
