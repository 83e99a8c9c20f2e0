import Button from "@cloudscape-design/components/button";
import ButtonDropdown from "@cloudscape-design/components/button-dropdown";
import Checkbox from "@cloudscape-design/components/checkbox";
import FormField from "@cloudscape-design/components/form-field";
import Header from "@cloudscape-design/components/header";
import Input, { type InputProps } from "@cloudscape-design/components/input";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Schemas } from "../../../api/client";
import { connections, createConnection, deleteConnection, offerConnection, testConnection } from "../../../api/exports";
import { useFlash } from "../../../app/Flashes";
import { useBillingChange, useBillingScope, useMayPay } from "../../../app/useBillingScope";
import { Dialog } from "../../../components/Dialog";
import { Empty } from "../../../components/Empty";
import { FailedPage, Failure } from "../../../components/Failure";
import { Find, ListTable } from "../../../components/ListTable";
import { BY_NAME, useListView } from "../../../components/useListView";
import { later } from "../../../components/later";
import { useFormat, useStrings } from "../../../i18n";
import { useExportStrings } from "../../../i18n/exports";

const DeleteDialog = later(async () => (await import("./DeleteDialog")).DeleteDialog, null);

type Connection = Schemas["S3Connection"];

/** Buckets that files can be delivered to, and that clusters can use. `page`: it is a page of its own. */
export function ConnectionList({ page }: { page?: boolean }) {
  const { common } = useStrings();
  const s = useExportStrings();
  const f = useFormat();
  const scope = useBillingScope();
  const project = "project" in scope ? scope.project : "";
  const may = useMayPay("s3-connection:write");
  const view = useListView(["q"], BY_NAME, page ? "" : "connection-");
  const { data, error, refetch } = useQuery(connections(scope, { q: view.value("q"), order: view.order }));
  const [creating, setCreating] = useState(false);
  const [leaving, setLeaving] = useState<Connection>();
  const test = useBillingChange((connection: Connection) => testConnection(scope, connection.id));
  const offer = useBillingChange((connection: Connection) => offerConnection(project, connection.id, !connection.attachable));
  const act = (action: string, connection: Connection) => {
    if (action === "delete") setLeaving(connection);
    else (action === "test" ? test : offer).mutate(connection);
  };
  if (error && !data) return page ? <FailedPage title={s.connections} error={error} retry={() => void refetch()} /> : <Failure error={error} retry={() => void refetch()} />;
  const create = may && <Button onClick={() => setCreating(true)}>{s.createConnection}</Button>;
  return (
    <>
      <Failure error={test.error ?? offer.error} />
      <ListTable
        variant={page ? "full-page" : "container"}
        title={s.connections}
        view={view}
        page={data}
        filters={<Find label={s.findConnections} value={view.value("q")} onChange={(text) => view.filter("q", text)} />}
        none={<Empty title={s.noConnections} text={page ? s.noBucketsText : s.noConnectionsText} />}
        header={<Header variant={page ? "awsui-h1-sticky" : "h2"} description={project ? s.connectionsText : s.accountConnectionsText} actions={create}>{s.connections}</Header>}
        columnDefinitions={[
          { id: "name", header: common.name, isRowHeader: true, sortingField: "name", cell: (each) => each.name },
          { id: "bucket", header: s.bucket, cell: (each) => (each.prefix ? `${each.bucket}/${each.prefix}` : each.bucket) },
          { id: "endpoint", header: s.endpoint, cell: (each) => each.endpoint },
          { id: "key", header: s.accessKey, cell: (each) => each.access_key_id },
          ...(project ? [{ id: "clusters", header: s.onClusters, cell: (each: Connection) => (each.attachable ? common.yes : common.no) }] : []),
          { id: "test", header: s.lastTest, cell: (each) => <Tested connection={each} /> },
          { id: "created", header: common.created, sortingField: "created_at", cell: (each) => f.moment(each.created_at) },
          ...(may ? [{
            id: "actions", header: common.actions,
            cell: (each: Connection) => (
              <ButtonDropdown
                variant="inline-icon"
                expandToViewport
                ariaLabel={s.actionsOf(each.name)}
                items={[
                  { id: "test", text: s.test },
                  ...(project ? [{ id: "offer", text: each.attachable ? s.withdraw : s.offer }] : []),
                  { id: "delete", text: common.remove },
                ]}
                onItemClick={({ detail }) => act(detail.id, each)}
              />
            ),
          }] : []),
        ]}
      />
      {creating && <CreateConnection onClose={() => setCreating(false)} />}
      {leaving && <DeleteDialog name={leaving.name} text={s.deleteConnectionText} remove={() => deleteConnection(scope, leaving.id)} onClose={() => setLeaving(undefined)} />}
    </>
  );
}

function Tested({ connection: { test } }: { connection: Connection }) {
  const s = useExportStrings();
  const f = useFormat();
  if (!test) return <StatusIndicator type="pending">{s.notTested}</StatusIndicator>;
  return test.failed
    ? <div className="words"><StatusIndicator type="error">{`${test.detail} (${f.moment(test.at)})`}</StatusIndicator></div>
    : <StatusIndicator type="success">{s.testedAt(f.moment(test.at))}</StatusIndicator>;
}

const EMPTY = { name: "", endpoint: "", region: "us-east-1", bucket: "", prefix: "", access_key_id: "", secret: "" };

function CreateConnection({ onClose }: { onClose: () => void }) {
  const { common } = useStrings();
  const s = useExportStrings();
  const flash = useFlash();
  const scope = useBillingScope();
  const [entered, setEntered] = useState(EMPTY);
  const [attachable, setAttachable] = useState(false);
  const run = useBillingChange(() => createConnection(scope, entered, attachable), (made) => {
    flash({ type: "success", content: s.connected(made.name) });
    onClose();
  });
  const field = (name: keyof typeof EMPTY, label: string, description?: string, type?: InputProps["type"]) => (
    <FormField label={label} description={description}>
      <Input value={entered[name]} type={type} autoComplete={false} onChange={({ detail }) => setEntered({ ...entered, [name]: detail.value })} />
    </FormField>
  );
  const ready = Object.entries(entered).every(([name, value]) => name === "prefix" || value !== "");
  return (
    <Dialog title={s.createConnection} submit={common.create} ready={ready} pending={run.isPending} error={run.error} onSubmit={() => run.mutate()} onClose={onClose}>
      {field("name", common.name, s.nameHelp)}
      {field("endpoint", s.endpoint, s.endpointHelp, "url")}
      {field("region", s.region)}
      {field("bucket", s.bucket)}
      {field("prefix", s.prefix, s.prefixHelp)}
      {field("access_key_id", s.accessKey)}
      {field("secret", s.secret, s.secretHelp, "password")}
      {"project" in scope && <Checkbox checked={attachable} onChange={({ detail }) => setAttachable(detail.checked)} description={s.offerText}>{s.offer}</Checkbox>}
    </Dialog>
  );
}
