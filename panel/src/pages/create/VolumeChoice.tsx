import FormField from "@cloudscape-design/components/form-field";
import Multiselect from "@cloudscape-design/components/multiselect";
import { useQuery } from "@tanstack/react-query";
import { volumePage } from "../../api/volumes";
import { useProject } from "../../app/Project";
import { useStrings } from "../../i18n";

/** The volumes that the first server of a new cluster has; shown where the project has some that are available in the region. */
export function VolumeChoice({ region, chosen, onChange }: { region: string; chosen: string[]; onChange: (names: string[]) => void }) {
  const { common, cluster: s } = useStrings();
  const { data } = useQuery(volumePage(useProject(), { state: ["available"], order: "-created_at", limit: 200 }));
  const available = (data?.items ?? []).filter((each) => each.region === region);
  const options = [...new Set([...available.map((each) => each.name), ...chosen])].map((name) => ({ value: name, label: name }));
  if (options.length === 0) return null;
  return (
    <FormField label={s.volumes} description={s.volumesText}>
      <Multiselect
        options={options}
        selectedOptions={options.filter((each) => chosen.includes(each.value))}
        onChange={({ detail }) => onChange(detail.selectedOptions.map((each) => each.value ?? ""))}
        placeholder={common.none}
        deselectAriaLabel={(each) => `${common.remove}: ${each.label}`}
      />
    </FormField>
  );
}
