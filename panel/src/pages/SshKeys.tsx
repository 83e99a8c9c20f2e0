import Alert from "@cloudscape-design/components/alert";
import Button from "@cloudscape-design/components/button";
import Header from "@cloudscape-design/components/header";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, type Schemas } from "../api/client";
import { sshKeyPage } from "../api/queries";
import { useFlash } from "../app/Flashes";
import { useMay, useProject } from "../app/Project";
import { Copyable } from "../components/Copyable";
import { Dialog } from "../components/Dialog";
import { Empty } from "../components/Empty";
import { FailedPage } from "../components/Failure";
import { Find, ListTable } from "../components/ListTable";
import { later } from "../components/later";
import { useChange } from "../components/useChange";
import { BY_NAME, useListView } from "../components/useListView";
import { useFormat, useStrings } from "../i18n";

const AddKey = later(async () => (await import("../components/AddKey")).AddKey, null);
const Authority = later(async () => (await import("./keys/Authority")).Authority, null);

type Key = Schemas["SshKey"];

export function SshKeys() {
  const { common, keys: s } = useStrings();
  const f = useFormat();
  const may = useMay("ssh-key:write");
  const view = useListView(["q"], BY_NAME);
  const { data, error, refetch } = useQuery(sshKeyPage(useProject(), { q: view.value("q"), order: view.order, limit: 50, cursor: view.pages.cursor }));
  const [adding, setAdding] = useState(false);
  const [leaving, setLeaving] = useState<Key>();
  const add = may && <Button variant="primary" onClick={() => setAdding(true)}>{s.add}</Button>;
  if (error && !data) return <FailedPage title={s.title} error={error} retry={() => void refetch()} />;
  return (
    <>
      <ListTable
        variant="full-page"
        title={s.title}
        view={view}
        page={data}
        filters={<Find label={s.find} value={view.value("q")} onChange={(text) => view.filter("q", text)} />}
        none={<Empty title={s.emptyTitle} text={s.emptyText} />}
        header={<Header variant="awsui-h1-sticky" description={s.description} actions={add}>{s.title}</Header>}
        columnDefinitions={[
          { id: "name", header: s.name, isRowHeader: true, sortingField: "name", cell: (each) => each.name },
          { id: "type", header: s.type, cell: (each) => each.type },
          { id: "fingerprint", header: s.fingerprint, cell: (each) => <Copyable text={each.fingerprint} label={s.fingerprint} /> },
          { id: "created", header: common.created, sortingField: "created_at", cell: (each) => f.moment(each.created_at) },
          ...(may ? [{
            id: "actions", header: common.actions,
            cell: (each: Key) => <Button variant="inline-link" ariaLabel={`${common.remove}: ${each.name}`} onClick={() => setLeaving(each)}>{common.remove}</Button>,
          }] : []),
        ]}
      />
      <Authority />
      {adding && <AddKey onClose={() => setAdding(false)} />}
      {leaving && <DeleteKey sshKey={leaving} onClose={() => setLeaving(undefined)} />}
    </>
  );
}

function DeleteKey({ sshKey, onClose }: { sshKey: Key; onClose: () => void }) {
  const { common, keys: s } = useStrings();
  const flash = useFlash();
  const project = useProject();
  const run = useChange(
    () => api.DELETE("/v1/projects/{project}/ssh-keys/{key}", { params: { path: { project, key: sshKey.id } } }),
    () => {
      flash({ type: "success", content: s.deleted(sshKey.name) });
      onClose();
    },
  );
  return (
    <Dialog title={s.deleteTitle(sshKey.name)} submit={common.remove} pending={run.isPending} error={run.error} onSubmit={() => run.mutate()} onClose={onClose}>
      <Alert type="info">{s.deleteText}</Alert>
    </Dialog>
  );
}
