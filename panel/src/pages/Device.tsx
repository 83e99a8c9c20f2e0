import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import Form from "@cloudscape-design/components/form";
import FormField from "@cloudscape-design/components/form-field";
import Header from "@cloudscape-design/components/header";
import Input from "@cloudscape-design/components/input";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { useSearchParams } from "react-router";
import { approveDevice, denyDevice, showDevice } from "../api/signIn";
import { useChoice } from "../app/Project";
import { Failure } from "../components/Failure";
import { useFormat, useStrings } from "../i18n";

/** Where a person approves the login of a command line, after comparing the code that it shows. */
export function Device() {
  const s = useStrings().device;
  const { who } = useChoice();
  const { second } = useFormat();
  const [params] = useSearchParams();
  const [code, setCode] = useState(params.get("code") ?? "");
  const found = useMutation({ mutationFn: showDevice });
  const decided = useMutation({ mutationFn: async (approve: boolean) => { await (approve ? approveDevice(code) : denyDevice(code)); return approve; } });
  if (decided.data !== undefined)
    return <Container header={<Header variant="h1">{s.title}</Header>}><StatusIndicator type={decided.data ? "success" : "stopped"}>{decided.data ? s.approved : s.denied}</StatusIndicator></Container>;
  if (!found.data)
    return (
      <form onSubmit={(event) => { event.preventDefault(); found.mutate(code); }}>
        <Container header={<Header variant="h1" description={s.text}>{s.title}</Header>}>
          <Form actions={<Button variant="primary" formAction="submit" loading={found.isPending} disabled={code.trim().length < 8}>{s.next}</Button>}>
            <SpaceBetween size="m">
              <FormField label={s.code}><Input value={code} onChange={({ detail }) => setCode(detail.value)} autoComplete="off" spellcheck={false} autoFocus /></FormField>
              <Failure error={found.error} />
            </SpaceBetween>
          </Form>
        </Container>
      </form>
    );
  const device = found.data;
  return (
    <Container header={<Header variant="h1" description={s.compare}>{s.title}</Header>}>
      <SpaceBetween size="l">
        <KeyValuePairs columns={2} items={[
          { label: s.code, value: <Box variant="code">{code.toUpperCase()}</Box> },
          { label: s.name, value: device.name },
          { label: s.address, value: device.address },
          { label: s.asked, value: second(device.created_at) },
          { label: s.project, value: device.project ?? who.project?.slug ?? "–" },
        ]} />
        <SpaceBetween size="xs" direction="horizontal">
          <Button variant="primary" loading={decided.isPending} onClick={() => decided.mutate(true)}>{s.approve}</Button>
          <Button onClick={() => decided.mutate(false)}>{s.deny}</Button>
        </SpaceBetween>
        <Failure error={decided.error} />
      </SpaceBetween>
    </Container>
  );
}
