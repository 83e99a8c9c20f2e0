import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import Multiselect from "@cloudscape-design/components/multiselect";
import RadioGroup from "@cloudscape-design/components/radio-group";
import { useState } from "react";
import { createWebhook, patchWebhook, type Webhook } from "../../api/access";
import { ApiError, type Schemas } from "../../api/client";
import { EVENT_TYPES } from "../../api/live";
import { useProject } from "../../app/Project";
import { Dialog } from "../../components/Dialog";
import { Field } from "../../components/Field";
import { useChange } from "../../components/useChange";
import { useStrings } from "../../i18n";
import { useWebhookStrings } from "../../i18n/webhooks";
import { useEventName } from "./WebhookState";

type Types = NonNullable<Schemas["WebhookCreate"]["event_types"]>;
type Props = { webhook?: Webhook; onClose: (saved?: Webhook | Schemas["NewWebhook"]) => void };

/** Creates a webhook, or changes one. */
export function EditWebhook({ webhook, onClose }: Props) {
  const { common } = useStrings();
  const s = useWebhookStrings();
  const project = useProject();
  const [seen] = useState(webhook);
  const [url, setUrl] = useState(seen?.url ?? "");
  const [description, setDescription] = useState(seen?.description ?? "");
  const [all, setAll] = useState(!seen?.event_types.length);
  const [types, setTypes] = useState<readonly string[]>(seen?.event_types ?? []);
  const run = useChange(
    async (): Promise<Webhook | Schemas["NewWebhook"]> => {
      const wanted = { url: url.trim(), description, event_types: (all ? [] : [...types]) as Types };
      return seen ? patchWebhook(project, seen, wanted) : createWebhook(project, wanted);
    },
    onClose,
  );
  const conflict = run.error instanceof ApiError && run.error.status === 412;
  const error = conflict && run.error instanceof ApiError ? new ApiError(412, run.error.code, s.changed, run.error.requestId) : run.error;
  return (
    <Dialog
      title={seen ? s.edit(seen.url) : s.create}
      submit={seen ? common.save : common.create}
      ready={url.trim() !== "" && (all || types.length > 0)}
      pending={run.isPending}
      error={error}
      onSubmit={() => run.mutate()}
      onClose={() => onClose()}
    >
      <Field at="/url" label={s.url} description={s.urlHelp}>
        <Input value={url} type="url" placeholder="https://" onChange={({ detail }) => setUrl(detail.value)} autoComplete={false} autoFocus />
      </Field>
      <Field at="/description" label={s.text}>
        <Input value={description} onChange={({ detail }) => setDescription(detail.value)} autoComplete={false} />
      </Field>
      <FormField label={s.events}>
        <RadioGroup
          value={all ? "all" : "chosen"}
          onChange={({ detail }) => setAll(detail.value === "all")}
          items={[{ value: "all", label: s.allEvents }, { value: "chosen", label: s.chosenEvents }]}
        />
      </FormField>
      {!all && <EventChoice types={types} onChange={setTypes} />}
    </Dialog>
  );
}

function EventChoice({ types, onChange }: { types: readonly string[]; onChange: (types: string[]) => void }) {
  const { common, events } = useStrings();
  const s = useWebhookStrings();
  const name = useEventName();
  const option = (value: string) => ({ value, label: name(value), description: value });
  const nouns = [...new Set(EVENT_TYPES.map((type) => type.split(".")[0] ?? ""))];
  const groups = nouns.map((noun) => ({
    label: events.nouns[noun] ?? noun,
    options: [`${noun}.*`, ...EVENT_TYPES.filter((type) => type.startsWith(`${noun}.`))].map(option),
  }));
  return (
    <Field at="/event_types" label={s.chooseEvents}>
      <Multiselect
        placeholder={s.chooseEvents}
        filteringType="auto"
        options={groups}
        selectedOptions={types.map(option)}
        onChange={({ detail }) => onChange(detail.selectedOptions.flatMap((each) => each.value ?? []))}
        deselectAriaLabel={(each) => `${common.remove}: ${each.label}`}
        tokenLimit={6}
      />
    </Field>
  );
}
