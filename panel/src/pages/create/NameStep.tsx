import AttributeEditor from "@cloudscape-design/components/attribute-editor";
import Checkbox from "@cloudscape-design/components/checkbox";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useStrings } from "../../i18n";
import type { Change, Draft, Tag } from "./draft";

export function NameStep({ draft, change, problem }: { draft: Draft; change: Change; problem?: string }) {
  const { common, cluster, create: s } = useStrings();
  const tag = (index: number, part: Partial<Tag>) => change({ tags: draft.tags.map((each, at) => (at === index ? { ...each, ...part } : each)) });
  return (
    <SpaceBetween size="l">
      <FormField label={common.name} description={s.nameRule} errorText={problem}>
        <Input value={draft.name} onChange={({ detail }) => change({ name: detail.value })} autoComplete="off" spellcheck={false} />
      </FormField>
      <FormField label={cluster.tags} stretch>
        <AttributeEditor
          items={draft.tags}
          empty={s.noTags}
          addButtonText={s.addTag}
          removeButtonText={s.removeTag}
          onAddButtonClick={() => change({ tags: [...draft.tags, { key: "", value: "" }] })}
          onRemoveButtonClick={({ detail }) => change({ tags: draft.tags.filter((_, at) => at !== detail.itemIndex) })}
          definition={[
            { label: s.tagKey, control: (item, index) => <Input value={item.key} onChange={({ detail }) => tag(index, { key: detail.value })} /> },
            { label: s.tagValue, control: (item, index) => <Input value={item.value} onChange={({ detail }) => tag(index, { value: detail.value })} /> },
          ]}
        />
      </FormField>
      <Checkbox checked={draft.protect} onChange={({ detail }) => change({ protect: detail.checked })}>{s.protect}</Checkbox>
    </SpaceBetween>
  );
}
