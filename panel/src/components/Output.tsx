import Box from "@cloudscape-design/components/box";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { followed } from "../api/log";
import { Failure } from "./Failure";
import { Loading } from "./Loading";
import { plain } from "./plain";
import { Tail } from "./Tail";

type Props = {
  log: ReturnType<typeof followed>;
  texts: { output: string; outputText: string; noOutput: string; noOutputYet: string; attempt: (number: number) => string };
  /** Where everything is, when only the end of it is shown. */
  cut: string;
};

/** What a program wrote, to its end, as it goes on. */
export function Output({ log, texts: s, cut }: Props) {
  const { data, error, refetch } = useQuery(log);
  const shown = useMemo(() => data?.outputs.map((each) => ({ ...each, text: plain(each.text) })) ?? [], [data]);
  return (
    <Container header={<Header variant="h2" description={data?.cut ? cut : s.outputText}>{s.output}</Header>}>
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
