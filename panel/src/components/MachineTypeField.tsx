import Select from "@cloudscape-design/components/select";
import { useQuery } from "@tanstack/react-query";
import { ADDRESS_SKU } from "../api/addresses";
import { regions } from "../api/queries";
import { VOLUME_SKU } from "../api/volumes";
import { Field } from "./Field";
import { useTypeWords } from "./useQuotaWords";

export type MachineTypeOf = { region: string; machine_type: string };
type Props = { label: string; placeholder: string; value: MachineTypeOf | undefined; disabled?: boolean; onChange: (value: MachineTypeOf) => void };

/** What quotas are of: a type of machine in a region where it is sold, or volumes or addresses there. */
export function MachineTypeField({ label, placeholder, value, disabled = false, onChange }: Props) {
  const known = useQuery(regions);
  const words = useTypeWords();
  const sold = (known.data?.items ?? []).flatMap((region) => [...region.machine_types, VOLUME_SKU, ADDRESS_SKU].map((machine_type) => ({ region: region.slug, machine_type })));
  const option = (each: MachineTypeOf) => ({
    value: `${each.region} ${each.machine_type}`,
    label: `${words[each.machine_type] ?? each.machine_type}, ${each.region}`,
  });
  return (
    <Field at="/machine_type" label={label}>
      <Select
        placeholder={placeholder}
        disabled={disabled}
        options={sold.map(option)}
        selectedOption={value ? option(value) : null}
        onChange={({ detail }) => {
          const [region = "", machine_type = ""] = (detail.selectedOption.value ?? "").split(" ");
          onChange({ region, machine_type });
        }}
        statusType={known.isPending ? "loading" : "finished"}
      />
    </Field>
  );
}
