import Checkbox from "@cloudscape-design/components/checkbox";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { TagEditor } from "../../components/TagEditor";
import { useStrings } from "../../i18n";
import type { Change, Draft } from "./draft";

export function NameStep({ draft, change, problem }: { draft: Draft; change: Change; problem?: string }) {
  const { common, create: s } = useStrings();
  return (
    <SpaceBetween size="l">
      <FormField label={common.name} description={s.nameRule} errorText={problem}>
        <Input value={draft.name} onChange={({ detail }) => change({ name: detail.value })} autoComplete="off" spellcheck={false} />
      </FormField>
      <TagEditor tags={draft.tags} onChange={(tags) => change({ tags })} />
      <Checkbox checked={draft.protect} onChange={({ detail }) => change({ protect: detail.checked })}>{s.protect}</Checkbox>
    </SpaceBetween>
  );
}
