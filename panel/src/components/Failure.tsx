import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import ContentLayout from "@cloudscape-design/components/content-layout";
import Header from "@cloudscape-design/components/header";
import { ApiError } from "../api/client";
import { useProblems, useStrings } from "../i18n";
import { faultOf, sentenceOf } from "../i18n/problems";
import { useElsewhere } from "./Field";

/** An error: its sentence, what was refused and stands at no field of a form, and the request's id. */
export function Failure({ error, retry }: { error: unknown; retry?: () => void }) {
  const s = useStrings().common;
  const problems = useProblems();
  const elsewhere = useElsewhere(error);
  if (!error) return null;
  const known = error instanceof ApiError;
  const marked = known && error.code === "validation_failed" && error.fields.length > 0;
  const { text, original } = marked ? { text: s.refused } : known ? sentenceOf(problems, error) : { text: s.unreachable };
  return (
    <Alert type="error" header={s.failed} action={retry && <Button onClick={retry}>{s.retry}</Button>}>
      {text}
      {original && <div lang="en">{original}</div>}
      {elsewhere.map((each) => <div key={each.pointer + each.code}>{`${each.pointer.replace(/^[/?]/, "")}: ${faultOf(problems, each)}`}</div>)}
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
