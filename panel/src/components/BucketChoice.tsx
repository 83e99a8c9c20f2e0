import Multiselect from "@cloudscape-design/components/multiselect";
import { useQuery } from "@tanstack/react-query";
import { connections } from "../api/exports";
import { useProject } from "../app/Project";
import { useStrings } from "../i18n";
import { Field } from "./Field";

/** The S3 connections that a cluster's servers have; shown where the project offers some. */
export function BucketChoice({ chosen, onChange }: { chosen: string[]; onChange: (names: string[]) => void }) {
  const { common, cluster: s } = useStrings();
  const { data } = useQuery(connections({ project: useProject() }));
  const offered = (data?.items ?? []).filter((each) => each.attachable);
  const options = [...new Set([...offered.map((each) => each.name), ...chosen])].map((name) => ({ value: name, label: name }));
  if (options.length === 0) return null;
  return (
    <Field at="/s3_connections" label={s.buckets} description={s.bucketsText}>
      <Multiselect
        options={options}
        selectedOptions={options.filter((each) => chosen.includes(each.value))}
        onChange={({ detail }) => onChange(detail.selectedOptions.map((each) => each.value ?? ""))}
        placeholder={common.none}
        deselectAriaLabel={(each) => `${common.remove}: ${each.label}`}
      />
    </Field>
  );
}
