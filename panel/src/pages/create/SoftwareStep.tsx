import FormField from "@cloudscape-design/components/form-field";
import Select from "@cloudscape-design/components/select";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Failure } from "../../components/Failure";
import { KeyChoice } from "../../components/KeyChoice";
import { useSystems } from "../../components/useSystems";
import { useStrings } from "../../i18n";
import type { Change, Draft } from "./draft";

export function SoftwareStep({ draft, change, problem }: { draft: Draft; change: Change; problem?: string }) {
  const { common, cluster, create: s } = useStrings();
  const systems = useSystems(draft.region);
  return (
    <SpaceBetween size="l">
      <Failure error={systems.error} />
      <FormField label={cluster.image}>
        <Select
          options={systems.options}
          loadingText={common.loading}
          statusType={systems.isPending ? "loading" : "finished"}
          selectedOption={systems.all.find((each) => each.value === draft.image) ?? null}
          onChange={({ detail }) => change({ image: detail.selectedOption.value ?? "" })}
        />
      </FormField>
      <KeyChoice chosen={draft.keys} onChange={(keys) => change({ keys })} description={s.keysText} problem={problem} />
    </SpaceBetween>
  );
}
