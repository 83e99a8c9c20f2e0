import Button from "@cloudscape-design/components/button";
import Header from "@cloudscape-design/components/header";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { webhookPage } from "../api/access";
import type { Schemas } from "../api/client";
import { useMay, useProject } from "../app/Project";
import { Choice } from "../components/Choice";
import { Empty } from "../components/Empty";
import { FailedPage } from "../components/Failure";
import { ListTable } from "../components/ListTable";
import { To } from "../components/To";
import { BY_AGE, oneOf, useListView } from "../components/useListView";
import { later } from "../components/later";
import { useFormat, useStrings } from "../i18n";
import { useWebhookStrings } from "../i18n/webhooks";
import { EventsOf, WebhookState } from "./webhooks/WebhookState";

const EditWebhook = later(async () => (await import("./webhooks/EditWebhook")).EditWebhook, null);
const ShownOnce = later(async () => (await import("../components/ShownOnce")).ShownOnce, null);

/** The project's webhooks. */
export function Webhooks() {
  const { common } = useStrings();
  const s = useWebhookStrings();
  const f = useFormat();
  const may = useMay("webhook:write");
  const view = useListView(["enabled"], BY_AGE);
  const enabled = oneOf(["true", "false"], view.value("enabled"));
  const { data, error, refetch } = useQuery(webhookPage(useProject(), { enabled: enabled && enabled === "true", order: view.order, limit: 50, cursor: view.pages.cursor }));
  const [creating, setCreating] = useState(false);
  const [made, setMade] = useState<Schemas["NewWebhook"]>();
  if (error && !data) return <FailedPage title={s.title} error={error} retry={() => void refetch()} />;
  const create = may && <Button variant="primary" onClick={() => setCreating(true)}>{s.create}</Button>;
  return (
    <>
      <ListTable
        variant="full-page"
        title={s.title}
        view={view}
        page={data}
        filters={<Choice label={common.state} value={enabled ?? ""} options={{ "": common.all, ...s.use }} onChange={(value) => view.filter("enabled", value)} />}
        header={<Header variant="awsui-h1-sticky" description={s.description} actions={create}>{s.title}</Header>}
        columnDefinitions={[
          { id: "url", header: s.url, isRowHeader: true, cell: (each) => <To href={`/webhooks/${each.id}`}>{each.url}</To> },
          { id: "text", header: s.text, cell: (each) => each.description || common.none },
          { id: "events", header: s.events, cell: (each) => <EventsOf webhook={each} /> },
          { id: "state", header: common.state, cell: (each) => <WebhookState webhook={each} /> },
          { id: "created", header: common.created, sortingField: "created_at", cell: (each) => f.moment(each.created_at) },
        ]}
        none={<Empty title={s.emptyTitle} text={s.emptyText} />}
      />
      {creating && <EditWebhook onClose={(webhook) => { setCreating(false); if (webhook && "secret" in webhook) setMade(webhook); }} />}
      {made?.secret && <ShownOnce title={s.secretTitle} text={s.secretText} secret={made.secret} onClose={() => setMade(undefined)} />}
    </>
  );
}
