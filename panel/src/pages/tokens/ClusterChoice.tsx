import FormField from "@cloudscape-design/components/form-field";
import Multiselect from "@cloudscape-design/components/multiselect";
import { useQuery } from "@tanstack/react-query";
import { clusterPage } from "../../api/queries";
import { useProject } from "../../app/Project";
import { useStrings } from "../../i18n";
import { useTokenStrings } from "../../i18n/tokens";

/** The clusters that a token is limited to, by id; none: it is not limited. */
export function ClusterChoice({ chosen, onChange }: { chosen: string[]; onChange: (ids: string[]) => void }) {
  const { common } = useStrings();
  const s = useTokenStrings();
  const { data } = useQuery(clusterPage(useProject(), { order: "name", limit: 200 }));
  const options = (data?.items ?? []).map((each) => ({ value: each.id, label: each.name }));
  return (
    <FormField label={s.clusters} description={s.clustersText}>
      <Multiselect
        options={options}
        selectedOptions={options.filter((each) => chosen.includes(each.value))}
        onChange={({ detail }) => onChange(detail.selectedOptions.map((each) => each.value ?? ""))}
        placeholder={s.clustersAll}
        filteringType="auto"
        deselectAriaLabel={(each) => `${common.remove}: ${each.label}`}
      />
    </FormField>
  );
}
