import Button from "@cloudscape-design/components/button";
import ButtonDropdown from "@cloudscape-design/components/button-dropdown";
import Container from "@cloudscape-design/components/container";
import ContentLayout from "@cloudscape-design/components/content-layout";
import Header from "@cloudscape-design/components/header";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useParams } from "react-router";
import { pingWebhook, webhook as webhookQuery, type Webhook } from "../api/access";
import { useFlash } from "../app/Flashes";
import { useGo } from "../app/place";
import { useMay, useProject } from "../app/Project";
import { FailedPage, Failure } from "../components/Failure";
import { Loading } from "../components/Loading";
import { To } from "../components/To";
import { later } from "../components/later";
import { useChange } from "../components/useChange";
import { useFormat, useStrings } from "../i18n";
import { useWebhookStrings } from "../i18n/webhooks";
import { Deliveries } from "./webhooks/Deliveries";
import type { WebhookAction } from "./webhooks/WebhookActionModal";
import { EventsOf, WebhookState } from "./webhooks/WebhookState";

const ShownOnce = later(async () => (await import("../components/ShownOnce")).ShownOnce, null);
const EditWebhook = later(async () => (await import("./webhooks/EditWebhook")).EditWebhook, null);
const WebhookActionModal = later(async () => (await import("./webhooks/WebhookActionModal")).WebhookActionModal, null);

/** A webhook: what it gets, whether it works, and what was sent. */
export function WebhookPage() {
  const { common } = useStrings();
  const s = useWebhookStrings();
  const f = useFormat();
  const { id = "" } = useParams();
  const { data: webhook, error, refetch } = useQuery(webhookQuery(useProject(), id));
  if (!webhook) return error ? <FailedPage title={s.title} error={error} retry={() => void refetch()} /> : <Loading />;
  return (
    <ContentLayout header={<Title webhook={webhook} />} breadcrumbs={<To href="/webhooks">{s.title}</To>}>
      <SpaceBetween size="l">
        <Container>
          <KeyValuePairs
            columns={4}
            items={[
              { label: common.state, value: <WebhookState webhook={webhook} /> },
              { label: s.events, value: <EventsOf webhook={webhook} /> },
              { label: s.text, value: webhook.description || common.none },
              { label: s.signature, value: webhook.previous_secret_until ? s.twoSecrets(f.moment(webhook.previous_secret_until)) : s.oneSecret },
            ]}
          />
        </Container>
        <Deliveries webhook={webhook.id} />
      </SpaceBetween>
    </ContentLayout>
  );
}

function Title({ webhook }: { webhook: Webhook }) {
  const { common } = useStrings();
  const s = useWebhookStrings();
  const flash = useFlash();
  const go = useGo();
  const project = useProject();
  const may = useMay("webhook:write");
  const [asked, setAsked] = useState<WebhookAction | "edit">();
  const [secret, setSecret] = useState<string>();
  const ping = useChange(() => pingWebhook(project, webhook.id), () => flash({ type: "success", content: s.pinged }));
  const close = () => setAsked(undefined);
  return (
    <>
      <Header
        variant="h1"
        actions={may && (
          <SpaceBetween direction="horizontal" size="xs">
            <Button loading={ping.isPending} disabled={!webhook.enabled} onClick={() => ping.mutate()}>{s.ping}</Button>
            <Button onClick={() => setAsked("edit")}>{common.edit}</Button>
            <ButtonDropdown
              items={[
                webhook.enabled ? { id: "disable", text: s.disable } : { id: "enable", text: s.enable },
                { id: "newSecret", text: s.newSecret },
                { id: "delete", text: common.remove },
              ]}
              onItemClick={({ detail }) => setAsked(detail.id as WebhookAction)}
            >
              {common.actions}
            </ButtonDropdown>
          </SpaceBetween>
        )}
      >
        {webhook.url}
      </Header>
      <Failure error={ping.error} />
      {asked === "edit" && <EditWebhook webhook={webhook} onClose={(saved) => { close(); if (saved) flash({ type: "success", content: s.saved }); }} />}
      {asked && asked !== "edit" && (
        <WebhookActionModal
          action={asked}
          webhook={webhook}
          onClose={(done) => {
            close();
            if (done?.secret) setSecret(done.secret);
            if (done && asked === "delete") go("/webhooks");
          }}
        />
      )}
      {secret && <ShownOnce title={s.secretTitle} text={s.secretText} secret={secret} onClose={() => setSecret(undefined)} />}
    </>
  );
}
