import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import Form from "@cloudscape-design/components/form";
import FormField from "@cloudscape-design/components/form-field";
import Header from "@cloudscape-design/components/header";
import Multiselect from "@cloudscape-design/components/multiselect";
import Select from "@cloudscape-design/components/select";
import SpaceBetween from "@cloudscape-design/components/space-between";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Schemas } from "../api/client";
import { notifications, replaceNotifications } from "../api/people";
import { useProject } from "../app/Project";
import { FailedPage, Failure } from "../components/Failure";
import { Loading } from "../components/Loading";
import { useStrings } from "../i18n";

const TYPES = ["operation.failed", "operation.succeeded", "cluster.*", "budget.*", "invoice.*", "job.*", "member.*", "maintenance.*"] as const;
const LANGUAGES = [{ value: "en", label: "English" }, { value: "de", label: "Deutsch" }];

/** Which events of the project the person gets by e-mail. */
export function Notifications() {
  const s = useStrings().notifications;
  const { data, error, refetch } = useQuery(notifications);
  if (error) return <FailedPage title={s.title} error={error} retry={() => void refetch()} />;
  return data ? <Choose found={data} /> : <Loading />;
}

function Choose({ found }: { found: Schemas["Notifications"] }) {
  const s = useStrings().notifications;
  const slug = useProject();
  const cache = useQueryClient();
  const mine = found.subscriptions.find((each) => each.project === slug)?.event_types ?? [];
  const [types, setTypes] = useState<string[]>(mine);
  const [language, setLanguage] = useState(found.language);
  const { mutate, isPending, isSuccess, error } = useMutation({
    mutationFn: () => {
      const others = found.subscriptions.filter((each) => each.project !== slug).map(({ project, event_types }) => ({ project, event_types }));
      return replaceNotifications(language, types.length ? [...others, { project: slug, event_types: types }] : others);
    },
    onSuccess: (answer) => cache.setQueryData(notifications.queryKey, answer),
  });
  const options = [...new Set([...TYPES, ...mine])].map((value) => ({ value, label: value }));
  return (
    <form onSubmit={(event) => { event.preventDefault(); mutate(); }}>
      <Container header={<Header variant="h1" description={s.text(found.email)}>{s.title}</Header>}>
        <Form actions={<Button variant="primary" formAction="submit" loading={isPending} disabled={!found.available}>{s.save}</Button>}>
          <SpaceBetween size="m">
            {!found.available && <StatusIndicator type="info">{s.unavailable}</StatusIndicator>}
            <FormField label={s.events(slug)}>
              <Multiselect options={options} selectedOptions={types.map((value) => ({ value, label: value }))} onChange={({ detail }) => setTypes(detail.selectedOptions.flatMap(({ value }) => (value ? [value] : [])))} disabled={!found.available} />
            </FormField>
            <FormField label={s.language}>
              <Select options={LANGUAGES} selectedOption={LANGUAGES.find(({ value }) => value === language) ?? null} onChange={({ detail }) => setLanguage(detail.selectedOption.value ?? "en")} disabled={!found.available} />
            </FormField>
            {isSuccess && <StatusIndicator type="success">{s.saved}</StatusIndicator>}
            <Failure error={error} />
          </SpaceBetween>
        </Form>
      </Container>
    </form>
  );
}
