import Alert from "@cloudscape-design/components/alert";
import Button from "@cloudscape-design/components/button";
import Header from "@cloudscape-design/components/header";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, type Schemas } from "../api/client";
import { sshKeys } from "../api/queries";
import { useFlash } from "../app/Flashes";
import { useMay, useProject } from "../app/Project";
import { Copyable } from "../components/Copyable";
import { Dialog } from "../components/Dialog";
import { Empty } from "../components/Empty";
import { FailedPage } from "../components/Failure";
import { byText, LocalTable } from "../components/LocalTable";
import { later } from "../components/later";
import { useChange } from "../components/useChange";
import { useFormat, useStrings } from "../i18n";

const AddKey = later(async () => (await import("../components/AddKey")).AddKey, null);
const Authority = later(async () => (await import("./keys/Authority")).Authority, null);

type Key = Schemas["SshKey"];

export function SshKeys() {
  const { common, keys: s } = useStrings();
  const f = useFormat();
  const may = useMay("ssh-key:write");
  const { data, error, refetch } = useQuery(sshKeys(useProject()));
  const [adding, setAdding] = useState(false);
  const [leaving, setLeaving] = useState<Key>();
  const add = may && <Button variant="primary" onClick={() => setAdding(true)}>{s.add}</Button>;
  if (error && !data) return <FailedPage title={s.title} error={error} retry={() => void refetch()} />;
  return (
    <>
      <LocalTable
        variant="full-page"
        trackBy="id"
        title={s.title}
        items={data?.items}
        textOf={(each) => `${each.name} ${each.fingerprint} ${each.type}`}
        find={s.find}
        none={<Empty title={s.emptyTitle} text={s.emptyText} />}
        header={<Header variant="awsui-h1-sticky" description={s.description} counter={data && `(${data.items.length})`} actions={add}>{s.title}</Header>}
        columnDefinitions={[
          { id: "name", header: s.name, isRowHeader: true, sortingComparator: byText((each) => each.name), cell: (each) => each.name },
          { id: "type", header: s.type, sortingField: "type", cell: (each) => each.type },
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
