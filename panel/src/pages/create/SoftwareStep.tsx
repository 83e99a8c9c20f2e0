import FormField from "@cloudscape-design/components/form-field";
import Select from "@cloudscape-design/components/select";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useQuery } from "@tanstack/react-query";
import { images } from "../../api/queries";
import { Failure } from "../../components/Failure";
import { KeyChoice } from "../../components/KeyChoice";
import { useStrings } from "../../i18n";
import type { Change, Draft } from "./draft";

export function SoftwareStep({ draft, change, problem }: { draft: Draft; change: Change; problem?: string }) {
  const { common, cluster, create: s } = useStrings();
  const sold = useQuery(images(draft.region));
  const systems = (sold.data?.items ?? []).map((each) => ({
    value: each.name, label: each.name, description: `${each.os} ${each.os_version}, Poplar SDK ${each.sdk_version}`,
  }));
  return (
    <SpaceBetween size="l">
      <Failure error={sold.error} />
      <FormField label={cluster.image}>
        <Select
          options={systems}
          loadingText={common.loading}
          statusType={sold.isPending ? "loading" : "finished"}
          selectedOption={systems.find((each) => each.value === draft.image) ?? null}
          onChange={({ detail }) => change({ image: detail.selectedOption.value ?? "" })}
        />
      </FormField>
      <KeyChoice chosen={draft.keys} onChange={(keys) => change({ keys })} description={s.keysText} problem={problem} />
    </SpaceBetween>
  );
}
