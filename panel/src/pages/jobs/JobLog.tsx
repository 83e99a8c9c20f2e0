import Box from "@cloudscape-design/components/box";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { jobLog, type Job } from "../../api/jobs";
import { useProject } from "../../app/Project";
import { Failure } from "../../components/Failure";
import { Loading } from "../../components/Loading";
import { Tail } from "../../components/Tail";
import { useJobStrings } from "../../i18n/jobs";
import { plain } from "./plain";

/** What the program wrote, to its end. */
export function JobLog({ job }: { job: Job }) {
  const s = useJobStrings();
  const { data, error, refetch } = useQuery(jobLog(useProject(), job.cluster, String(job.number)));
  const shown = useMemo(() => data?.outputs.map((each) => ({ ...each, text: plain(each.text) })) ?? [], [data]);
  return (
    <Container header={<Header variant="h2" description={data?.cut ? s.outputCut(job.number) : s.outputText}>{s.output}</Header>}>
      {error && <Failure error={error} retry={() => void refetch()} />}
      {!data && !error && <Loading />}
      {data && shown.length === 0 && <Box color="text-body-secondary">{data.complete ? s.noOutput : s.noOutputYet}</Box>}
      {shown.length > 0 && (
        <Tail label={s.output} text={shown}>
          {shown.map((each) => (
            <div key={each.attempt}>
              {(shown.length > 1 || each.attempt > 1) && <Box variant="small">{s.attempt(each.attempt)}</Box>}
              <pre>{each.text}</pre>
            </div>
          ))}
        </Tail>
      )}
    </Container>
  );
}
