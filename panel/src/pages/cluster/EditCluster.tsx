import Checkbox from "@cloudscape-design/components/checkbox";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import Multiselect from "@cloudscape-design/components/multiselect";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { connections } from "../../api/exports";
import type { Cluster } from "../../api/queries";
import { useFlash } from "../../app/Flashes";
import { useProject } from "../../app/Project";
import { Dialog } from "../../components/Dialog";
import { TagEditor, type Tag } from "../../components/TagEditor";
import { patchOf, useClusterEdit } from "../../components/useClusterEdit";
import { useStrings } from "../../i18n";
import { ConflictAlert } from "./ConflictAlert";

const entries = (tags: Cluster["tags"]): Tag[] => Object.entries(tags).map(([key, value]) => ({ key, value }));

/** Name, tags, protection and S3 connections of a cluster. */
export function EditCluster({ cluster, onClose }: { cluster: Cluster; onClose: () => void }) {
  const { common, cluster: s, create } = useStrings();
  const flash = useFlash();
  const [seen] = useState(cluster);
  const [name, setName] = useState(seen.name);
  const [tags, setTags] = useState(() => entries(seen.tags));
  const [protect, setProtect] = useState(seen.delete_protection);
  const [buckets, setBuckets] = useState(seen.s3_connections);
  const { save, conflict, settle } = useClusterEdit(seen, () => {
    flash({ type: "success", content: s.saved(name) });
    onClose();
  });
  const entered = { name, tags: Object.fromEntries(tags.filter((tag) => tag.key !== "").map((tag) => [tag.key, tag.value])), delete_protection: protect, s3_connections: buckets };
  const patch = patchOf(seen, entered);
  const take = () => {
    if (!conflict) return;
    setName(conflict.now.name);
    setTags(entries(conflict.now.tags));
    setProtect(conflict.now.delete_protection);
    setBuckets(conflict.now.s3_connections);
    settle();
  };
  return (
    <Dialog
      large
      title={s.editTitle(seen.name)}
      submit={common.save}
      ready={name !== "" && Object.keys(patch).length > 0}
      pending={save.isPending}
      error={save.error}
      onSubmit={() => save.mutate(patch)}
      onClose={onClose}
    >
      {conflict && <ConflictAlert conflict={conflict} onTake={take} />}
      <FormField label={common.name} description={create.nameRule}>
        <Input value={name} onChange={({ detail }) => setName(detail.value)} autoComplete={false} spellcheck={false} />
      </FormField>
      <TagEditor tags={tags} onChange={setTags} />
      <Checkbox checked={protect} onChange={({ detail }) => setProtect(detail.checked)}>{create.protect}</Checkbox>
      <Buckets chosen={buckets} onChange={setBuckets} />
    </Dialog>
  );
}

/** The S3 connections that its servers have; shown where the project offers some. */
function Buckets({ chosen, onChange }: { chosen: string[]; onChange: (names: string[]) => void }) {
  const { common, cluster: s } = useStrings();
  const { data } = useQuery(connections(useProject()));
  const offered = (data?.items ?? []).filter((each) => each.attachable);
  const options = [...new Set([...offered.map((each) => each.name), ...chosen])].map((name) => ({ value: name, label: name }));
  if (options.length === 0) return null;
  return (
    <FormField label={s.buckets} description={s.bucketsText}>
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
