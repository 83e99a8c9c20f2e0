import { queryOptions } from "@tanstack/react-query";

/** What a program wrote at one of its starts. */
export type Output = { attempt: number; text: string };
/** The end of a program's output; `cut`: what came before it is left out. */
export type Log = { outputs: Output[]; next: number; cut: boolean; complete: boolean };
type Found = { items: Output[]; next: number; complete: boolean };

const READ_MS = 2_000;
const SHOWN_CHARACTERS = 256 * 1024;

/** A program's output: each reading goes on where the one before it ended. */
export const followed = (queryKey: unknown[], read: (after: number, signal: AbortSignal) => Promise<Found>) =>
  queryOptions({
    queryKey,
    queryFn: async ({ signal, client }) => {
      let log = client.getQueryData<Log>(queryKey) ?? { outputs: [], next: 0, cut: false, complete: false };
      while (!log.complete) {
        const found = await read(log.next, signal);
        log = appended(log, found);
        if (found.items.length === 0) break;
      }
      return log;
    },
    refetchInterval: ({ state }) => (state.data?.complete ? false : READ_MS),
  });

/** The log with what follows; of a long one the beginning is dropped. */
export function appended(log: Log, found: Found): Log {
  const outputs = log.outputs.map((each) => ({ ...each }));
  for (const { attempt, text } of found.items) {
    const last = outputs.at(-1);
    if (last?.attempt === attempt) last.text += text;
    else outputs.push({ attempt, text });
  }
  let cut = log.cut;
  for (let over = outputs.reduce((sum, each) => sum + each.text.length, 0) - SHOWN_CHARACTERS; over > 0; ) {
    const [first] = outputs;
    if (!first) break;
    cut = true;
    if (first.text.length > over) {
      first.text = first.text.slice(over);
      break;
    }
    over -= first.text.length;
    outputs.shift();
  }
  return { outputs, next: found.next, cut, complete: found.complete };
}
