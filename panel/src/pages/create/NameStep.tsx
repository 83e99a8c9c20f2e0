import Checkbox from "@cloudscape-design/components/checkbox";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { BucketChoice } from "../../components/BucketChoice";
import { later } from "../../components/later";
import { SourcesField } from "../../components/SourcesField";
import { TagEditor } from "../../components/TagEditor";
import { useStrings } from "../../i18n";
import type { Change, Draft } from "./draft";
import { VolumeChoice } from "./VolumeChoice";

const MomentInput = later(async () => (await import("../../components/MomentInput")).MomentInput);

/** Name, tags, and what the cluster has beside its servers. */
export function NameStep({ draft, change, problem }: { draft: Draft; change: Change; problem?: string }) {
  const { cluster, common, create: s } = useStrings();
  return (
    <SpaceBetween size="l">
      <FormField label={common.name} description={s.nameRule} errorText={problem}>
        <Input value={draft.name} onChange={({ detail }) => change({ name: detail.value })} autoComplete="off" spellcheck={false} />
      </FormField>
      <TagEditor tags={draft.tags} onChange={(tags) => change({ tags })} />
      <SourcesField text={draft.sources} onChange={(sources) => change({ sources })} description={cluster.sourcesText} />
      <BucketChoice chosen={draft.buckets} onChange={(buckets) => change({ buckets })} />
      <VolumeChoice region={draft.region} chosen={draft.volumes} onChange={(volumes) => change({ volumes })} />
      <FormField label={s.expires} description={s.expiresText}>
        <MomentInput value={draft.expires} onChange={(expires) => change({ expires })} label={s.expires} />
      </FormField>
      <Checkbox checked={draft.protect} onChange={({ detail }) => change({ protect: detail.checked })}>{s.protect}</Checkbox>
    </SpaceBetween>
  );
}
