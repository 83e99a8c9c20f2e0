import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import ContentLayout from "@cloudscape-design/components/content-layout";
import Header from "@cloudscape-design/components/header";
import { ApiError } from "../api/client";
import { useStrings } from "../i18n";

/** An error: its sentence, which field of the request it is about, and the request's id. */
export function Failure({ error, retry }: { error: unknown; retry?: () => void }) {
  const s = useStrings().common;
  if (!error) return null;
  const known = error instanceof ApiError;
  return (
    <Alert type="error" header={s.failed} action={retry && <Button onClick={retry}>{s.retry}</Button>}>
      {known ? error.message : s.unreachable}
      {known && error.fields.map((field) => <div key={field.pointer + field.code}>{`${field.pointer}: ${field.detail}`}</div>)}
      {known && error.requestId && (
        <Box variant="small" display="block" color="inherit">
          {s.requestId} {error.requestId}
        </Box>
      )}
    </Alert>
  );
}

/** A page of which nothing but the error can be shown. */
export function FailedPage({ title, error, retry }: { title: string; error: unknown; retry?: () => void }) {
  return (
    <ContentLayout header={<Header variant="h1">{title}</Header>}>
      <Failure error={error} retry={retry} />
    </ContentLayout>
  );
}
