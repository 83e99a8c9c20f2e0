import Button from "@cloudscape-design/components/button";
import { useState } from "react";
import { cancelOperation, type Operation } from "../../api/queries";
import { useMay, useProject } from "../../app/Project";
import { Consequences } from "../../components/Consequences";
import { Dialog } from "../../components/Dialog";
import { useChange } from "../../components/useChange";
import { useStrings } from "../../i18n";

/** Cancels an operation while that is possible, after saying what that does. */
export function CancelOperation({ operation }: { operation: Operation }) {
  const { cluster: s, common } = useStrings();
  const may = useMay("cluster:write");
  const project = useProject();
  const [asked, setAsked] = useState(false);
  const close = () => setAsked(false);
  const run = useChange(() => cancelOperation(project, operation.id), close);
  if (!may || operation.done || !operation.cancellable) return null;
  return (
    <>
      <Button onClick={() => setAsked(true)}>{s.cancelOperation}</Button>
      {asked && (
        <Dialog
          title={s.cancelTitle(s.operations[operation.kind] ?? operation.kind)}
          submit={s.cancelOperation}
          cancel={common.close}
          pending={run.isPending}
          error={run.error}
          onSubmit={() => run.mutate()}
          onClose={close}
        >
          <Consequences lines={s.cancelWhat} />
        </Dialog>
      )}
    </>
  );
}
