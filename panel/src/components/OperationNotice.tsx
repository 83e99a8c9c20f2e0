import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import { useQuery } from "@tanstack/react-query";
import { operation } from "../api/queries";
import { useProject } from "../app/Project";
import { useStrings } from "../i18n";

/** What became of an operation that was requested here: nothing while all is well, and why if it failed. */
export function OperationNotice({ id, onDismiss }: { id: string; onDismiss: () => void }) {
  const { cluster: s, common } = useStrings();
  const { data } = useQuery(operation(useProject(), id));
  if (!data?.error) return null;
  return (
    <Alert type="error" header={s.operationFailed(s.operations[data.kind] ?? data.kind)} dismissible dismissAriaLabel={common.close} onDismiss={onDismiss}>
      {String(data.error.detail ?? common.failed)}
      <Box variant="small" display="block" color="inherit">{common.requestId} {data.request_id}</Box>
    </Alert>
  );
}
