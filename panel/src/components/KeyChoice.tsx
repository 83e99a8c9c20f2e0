import Button from "@cloudscape-design/components/button";
import FormField from "@cloudscape-design/components/form-field";
import Multiselect from "@cloudscape-design/components/multiselect";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { sshKeys } from "../api/queries";
import { useMay, useProject } from "../app/Project";
import { useStrings } from "../i18n";
import { Failure } from "./Failure";
import { later } from "./later";

const AddKey = later(async () => (await import("./AddKey")).AddKey, null);

type Props = { chosen: string[]; onChange: (keys: string[]) => void; description: string; problem?: string; disabled?: boolean };

/** Keys among the project's, and those chosen before that the project no longer has; another key can be added. */
export function KeyChoice({ chosen, onChange, description, problem, disabled = false }: Props) {
  const { common, create: s, keys } = useStrings();
  const known = useQuery(sshKeys(useProject()));
  const may = useMay("ssh-key:write");
  const [adding, setAdding] = useState(false);
  const own = (known.data?.items ?? []).map((each) => ({ value: each.name, label: each.name, description: each.fingerprint }));
  const gone = known.data ? chosen.filter((name) => !own.some((each) => each.value === name)) : [];
  const options = [...own, ...gone.map((value) => ({ value, label: value, description: keys.notInProject }))];
  return (
    <>
      <FormField
        label={keys.title}
        description={description}
        errorText={problem}
        secondaryControl={may && !disabled && <Button formAction="none" onClick={() => setAdding(true)}>{keys.add}</Button>}
      >
        <Multiselect
          options={options}
          disabled={disabled}
          placeholder={s.chooseKeys}
          loadingText={common.loading}
          statusType={known.isPending ? "loading" : "finished"}
          selectedOptions={options.filter((each) => chosen.includes(each.value))}
          onChange={({ detail }) => onChange(detail.selectedOptions.flatMap((each) => each.value ?? []))}
          deselectAriaLabel={(each) => `${common.remove}: ${each.label}`}
          empty={keys.emptyTitle}
        />
      </FormField>
      <Failure error={known.error} />
      {adding && <AddKey onClose={(added) => { setAdding(false); if (added) onChange([...chosen, added]); }} />}
    </>
  );
}
