import Checkbox from "@cloudscape-design/components/checkbox";
import Input from "@cloudscape-design/components/input";
import { useState } from "react";
import type { Cluster } from "../../api/queries";
import { useFlash } from "../../app/Flashes";
import { BucketChoice } from "../../components/BucketChoice";
import { Dialog } from "../../components/Dialog";
import { Field } from "../../components/Field";
import { networksIn } from "../../components/networks";
import { SourcesField } from "../../components/SourcesField";
import { TagEditor, type Tag } from "../../components/TagEditor";
import { patchOf, useClusterEdit } from "../../components/useClusterEdit";
import { useStrings } from "../../i18n";
import { ConflictAlert } from "./ConflictAlert";

const entries = (tags: Cluster["tags"]): Tag[] => Object.entries(tags).map(([key, value]) => ({ key, value }));

/** Name, tags, protection, allowed sources and S3 connections of a cluster. */
export function EditCluster({ cluster, onClose }: { cluster: Cluster; onClose: () => void }) {
  const { common, cluster: s, create } = useStrings();
  const flash = useFlash();
  const [seen] = useState(cluster);
  const [name, setName] = useState(seen.name);
  const [tags, setTags] = useState(() => entries(seen.tags));
  const [protect, setProtect] = useState(seen.delete_protection);
  const [buckets, setBuckets] = useState(seen.s3_connections);
  const [sources, setSources] = useState(seen.allowed_sources.join("\n"));
  const { save, conflict, settle } = useClusterEdit(seen, () => {
    flash({ type: "success", content: s.saved(name) });
    onClose();
  });
  const entered = { name, tags: Object.fromEntries(tags.filter((tag) => tag.key !== "").map((tag) => [tag.key, tag.value])), delete_protection: protect, s3_connections: buckets, allowed_sources: networksIn(sources) };
  const patch = patchOf(seen, entered);
  const take = () => {
    if (!conflict) return;
    setName(conflict.now.name);
    setTags(entries(conflict.now.tags));
    setProtect(conflict.now.delete_protection);
    setBuckets(conflict.now.s3_connections);
    setSources(conflict.now.allowed_sources.join("\n"));
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
      <Field at="/name" label={common.name} description={create.nameRule}>
        <Input value={name} onChange={({ detail }) => setName(detail.value)} autoComplete={false} spellcheck={false} />
      </Field>
      <TagEditor tags={tags} onChange={setTags} />
      <Checkbox checked={protect} onChange={({ detail }) => setProtect(detail.checked)}>{create.protect}</Checkbox>
      <SourcesField text={sources} onChange={setSources} description={s.sourcesText} />
      <BucketChoice chosen={buckets} onChange={setBuckets} />
    </Dialog>
  );
}
