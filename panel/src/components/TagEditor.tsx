import AttributeEditor from "@cloudscape-design/components/attribute-editor";
import Input from "@cloudscape-design/components/input";
import { useStrings } from "../i18n";
import { Field } from "./Field";

export type Tag = { key: string; value: string };

export function TagEditor({ tags, onChange }: { tags: Tag[]; onChange: (tags: Tag[]) => void }) {
  const { cluster, create: s } = useStrings();
  const tag = (index: number, part: Partial<Tag>) => onChange(tags.map((each, at) => (at === index ? { ...each, ...part } : each)));
  return (
    <Field at="/tags" label={cluster.tags} stretch>
      <AttributeEditor
        items={tags}
        empty={s.noTags}
        addButtonText={s.addTag}
        removeButtonText={s.removeTag}
        onAddButtonClick={() => onChange([...tags, { key: "", value: "" }])}
        onRemoveButtonClick={({ detail }) => onChange(tags.filter((_, at) => at !== detail.itemIndex))}
        definition={[
          { label: s.tagKey, control: (item, index) => <Input value={item.key} onChange={({ detail }) => tag(index, { key: detail.value })} /> },
          { label: s.tagValue, control: (item, index) => <Input value={item.value} onChange={({ detail }) => tag(index, { value: detail.value })} /> },
        ]}
      />
    </Field>
  );
}
