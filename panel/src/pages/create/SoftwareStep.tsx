import Button from "@cloudscape-design/components/button";
import FormField from "@cloudscape-design/components/form-field";
import Multiselect from "@cloudscape-design/components/multiselect";
import Select from "@cloudscape-design/components/select";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { images, sshKeys } from "../../api/queries";
import { useMay, useProject } from "../../app/Project";
import { Failure } from "../../components/Failure";
import { later } from "../../components/later";
import { useStrings } from "../../i18n";
import type { Change, Draft } from "./draft";

const AddKey = later(async () => (await import("../../components/AddKey")).AddKey, null);

export function SoftwareStep({ draft, change, problem }: { draft: Draft; change: Change; problem?: string }) {
  const { common, cluster, create: s, keys } = useStrings();
  const sold = useQuery(images(draft.region));
  const known = useQuery(sshKeys(useProject()));
  const may = useMay("ssh-key:write");
  const [adding, setAdding] = useState(false);
  const systems = (sold.data?.items ?? []).map((each) => ({
    value: each.name, label: each.name, description: `${each.os} ${each.os_version}, Poplar SDK ${each.sdk_version}`,
  }));
  const choices = (known.data?.items ?? []).map((each) => ({ value: each.name, label: each.name, description: each.fingerprint }));
  return (
    <SpaceBetween size="l">
      <Failure error={sold.error ?? known.error} />
      <FormField label={cluster.image}>
        <Select
          options={systems}
          loadingText={common.loading}
          statusType={sold.isPending ? "loading" : "finished"}
          selectedOption={systems.find((each) => each.value === draft.image) ?? null}
          onChange={({ detail }) => change({ image: detail.selectedOption.value ?? "" })}
        />
      </FormField>
      <FormField
        label={keys.title}
        description={s.keysText}
        errorText={problem}
        secondaryControl={may && <Button onClick={() => setAdding(true)}>{keys.add}</Button>}
      >
        <Multiselect
          options={choices}
          placeholder={s.chooseKeys}
          selectedOptions={choices.filter((each) => draft.keys.includes(each.value))}
          onChange={({ detail }) => change({ keys: detail.selectedOptions.flatMap((each) => each.value ?? []) })}
          deselectAriaLabel={(each) => `${s.removeTag}: ${each.label}`}
          empty={keys.emptyTitle}
        />
      </FormField>
      {adding && <AddKey onClose={(added) => { setAdding(false); if (added) change({ keys: [...draft.keys, added] }); }} />}
    </SpaceBetween>
  );
}
