import { ofSession } from "./client";

export type StreamState = "connecting" | "live" | "offline" | "polling";
type Message = { id?: string; event?: string };

/** The server sends a comment after 15 s of silence, so a stream that is silent for so long is dead. */
const SILENT_MS = 45_000;
const AGAIN_MS = 2_000;
const REFUSED_MS = 15_000;

class RefusedError extends Error {}

/** Follow a stream of events until the returned function is called, and go on after the last one whenever it breaks.
 *
 *  It is read by `fetch`: an EventSource hides the comments that tell a live stream from a dead one, has no listener for events of any
 *  type, and does not notice that the browser is offline. */
export function follow(url: string, state: (state: StreamState) => void, happened: (type: string) => void): () => void {
  const left = new AbortController();
  let last: string | undefined;
  let was = false;
  const run = async () => {
    while (!left.signal.aborted) {
      let refused = false;
      try {
        const opened = () => {
          was = true;
          state("live");
        };
        for await (const { id, event } of messages(url, last, left.signal, opened)) {
          last = id ?? last;
          if (event) happened(event);
        }
      } catch (error) {
        refused = error instanceof RefusedError;
      }
      if (left.signal.aborted) return;
      state(refused ? "polling" : was ? "offline" : "connecting");
      await pause(refused ? REFUSED_MS : AGAIN_MS, left.signal);
    }
  };
  void run();
  return () => left.abort();
}

/** The messages of one connection. Throws RefusedError if the server refuses it, and another error if it breaks. */
async function* messages(url: string, last: string | undefined, left: AbortSignal, opened: () => void): AsyncGenerator<Message> {
  const broken = new AbortController();
  const end = () => broken.abort();
  const ended = { signal: broken.signal };
  left.addEventListener("abort", end, ended);
  globalThis.addEventListener("offline", end, ended);
  let silence = setTimeout(end, SILENT_MS);
  try {
    const headers = { Accept: "text/event-stream", ...(last !== undefined && { "Last-Event-ID": last }) };
    const answer = await fetch(ofSession(url), { ...ended, headers, credentials: "same-origin", cache: "no-store" });
    if (!answer.ok || !answer.body) throw new RefusedError(answer.statusText);
    opened();
    const reader = answer.body.getReader();
    const decoder = new TextDecoder();
    for (let text = ""; ;) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(silence);
      silence = setTimeout(end, SILENT_MS);
      const blocks = (text + decoder.decode(value, { stream: true })).split("\n\n");
      text = blocks.pop() ?? "";
      yield* blocks.map(message);
    }
  } finally {
    clearTimeout(silence);
    end();
  }
}

/** What its lines say; a comment has neither. */
function message(block: string): Message {
  return Object.fromEntries(block.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trimStart()]));
}

/** Resolves after so many milliseconds, when the browser is online again, or when the page is left. */
function pause(milliseconds: number, left: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const over = new AbortController();
    const done = () => {
      over.abort();
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    globalThis.addEventListener("online", done, { signal: over.signal });
    left.addEventListener("abort", done, { signal: over.signal });
  });
}
