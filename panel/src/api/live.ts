import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { follow, type StreamState } from "./stream";

/** What is known of the connection: its state, since when, and when the last event came; times in milliseconds. */
export type Live = { state: StreamState; since: number; last?: number | undefined };
type News = { state: StreamState; since: number } | { changed: string };
type Message = News | { asks: "state" };

const POLL_MS = 5_000;
const TOGETHER_MS = 1_000;

/** One stream of events for the browser, not one per tab: HTTP/1.1 allows six connections per host, and a seventh tab
 *  would wait for ever. The tab that holds the Web Lock owns the stream and passes events on over a BroadcastChannel.
 *  Where there are no locks (plain HTTP on another host) each visible tab has a stream. */
export function openLive(url: string, receive: (message: News) => void): () => void {
  const channel = new BroadcastChannel(`panel ${url}`);
  let known: News | undefined; // of the stream that this tab owns, for tabs that are opened later
  channel.onmessage = (event: MessageEvent<Message>) => {
    if (!("asks" in event.data)) receive(event.data);
    else if (known) channel.postMessage(known);
  };
  channel.postMessage({ asks: "state" });
  const stop = new AbortController();
  const tell = (message: News) => {
    if (stop.signal.aborted) return;
    if ("state" in message) known = message;
    receive(message);
    channel.postMessage(message);
  };
  let close = () => {};
  const own = () => {
    let current: StreamState | undefined;
    const enter = (state: StreamState) => {
      if (state !== current) tell({ state, since: Date.now() });
      current = state;
    };
    close = follow(url, enter, (type) => tell({ changed: type.split(".")[0] ?? "" }));
  };
  if (navigator.locks) {
    const held = () => new Promise<void>((release) => {
      if (stop.signal.aborted) return release(); // granted while this page was left
      own();
      stop.signal.addEventListener("abort", () => release(), { once: true });
    });
    navigator.locks.request(`panel ${url}`, { signal: stop.signal }, held).catch(() => {});
  } else {
    const visible = () => {
      close();
      if (!document.hidden) own();
    };
    document.addEventListener("visibilitychange", visible, { signal: stop.signal });
    visible();
  }
  return () => {
    stop.abort();
    close();
    channel.close();
  };
}

// A test compares these with the API's description.
const TYPES: Record<string, string> = {
  account: "funds_exhausted funds_low funds_restored restricted restriction_lifted top_up_paused top_up_requested top_up_resumed "
    + "topped_up",
  address: "attached available created deleted detached failed updated",
  audit: "repaired",
  budget: "created deleted forecast_reached threshold_reached updated",
  cluster: "active created degraded delete_forced deleted deleting error expiring hardware_isolated hardware_replaced "
    + "idle_suspended preempted preemption_scheduled preemption_withdrawn "
    + "rebuilding recovered repair_ended repair_scheduled repair_started repair_waiting resized resizing resuming "
    + "schedule_missed schedule_started schedule_waiting "
    + "servers_rebuilt suspend_forced suspended suspending updated",
  credit_note: "issued",
  fault_report: "closed confirmed dismissed opened repaired",
  invoice: "issued overdue",
  job: "failed queued retried started stopped succeeded",
  maintenance: "announced",
  member: "invited joined removed role_changed sources_changed",
  operation: "cancelled cancelling created failed succeeded",
  partition: "active creating error missing removed removing resetting unknown",
  project: "account_changed charges_corrected created deleted updated",
  quota: "updated",
  quota_request: "declined granted opened withdrawn",
  reservation: "active cancelled created ended",
  ssh_authority: "rotated",
  ssh_certificate: "issued",
  ssh_key: "created deleted",
  service: "created failed restarted started stopped",
  snapshot: "available created deleted failed updated",
  terminal: "closed opened",
  token: "created revoked rotated",
  volume: "attached available created deleted detached failed resized updated",
  webhook: "created deleted disabled secret_rotated updated",
};

/** Of accounts and operators only. */
const OTHER_TYPES: Record<string, string> = {
  account: "export_limit_updated",
  automation: "halted resumed",
  billing_month: "late sealed",
  freeze: "ended started",
  hardware: "drained maintained quarantined returned_to_service",
  inventory: "agrees differs",
  payment: "failed received refunded reversal_found reversal_withdrawn reversed",
  price: "missing supplied",
  price_correction: "accepted finished",
};

const typesOf = (types: Record<string, string>) => Object.fromEntries(Object.entries(types).map(([noun, verbs]) => [noun, verbs.split(" ").map((verb) => `${noun}.${verb}`)]));

/** What events of projects are about, with their types. */
export const TYPES_OF = typesOf(TYPES);

/** All types of events. */
export const EVENT_TYPES = [...Object.values(TYPES_OF), ...Object.values(typesOf(OTHER_TYPES))].flat();

/** Whose events are followed: a project's, those of a payer's billing account, those of operators. */
export type Followed = { project?: string | undefined; account?: string | null | undefined; operator?: boolean };

/** Keeps what is shown up to date: what events are about is read again, and everything after a gap. */
export function useLive({ project, account, operator }: Followed): Live {
  const streams = [
    useStream("project", project ? `/v1/projects/${encodeURIComponent(project)}/events/stream` : undefined),
    useStream("account", account ? `/v1/billing/accounts/${account}/events/stream` : undefined),
    useStream("operator", operator ? "/v1/operator/events/stream" : undefined),
  ];
  return streams.find((stream) => stream !== undefined) ?? { state: "polling", since: 0 };
}

/** One stream; `what`: first part of the keys of what it is about. Undefined: there is none. */
function useStream(what: string, url: string | undefined): Live | undefined {
  const cache = useQueryClient();
  const [live, setLive] = useState<Live>(() => ({ state: "connecting", since: Date.now() }));
  useEffect(() => {
    if (!url) return;
    let state: StreamState | undefined;
    const again = together((all) => void cache.invalidateQueries({ predicate: (query) => all || query.queryKey[0] === what }));
    const close = openLive(url, (message) => {
      if ("changed" in message) {
        setLive((now) => ({ ...now, last: Date.now() }));
        again.soon(message.changed === "gap");
        return;
      }
      if (message.state === "live" && state && state !== "live") again.soon(true);
      state = message.state;
      setLive((now) => ({ ...now, ...message }));
    });
    return () => {
      close();
      again.stop();
    };
  }, [cache, what, url]);
  useEffect(() => {
    if (live.state !== "polling" || !url) return;
    const again = window.setInterval(() => void cache.invalidateQueries({ predicate: (query) => query.queryKey[0] === what }), POLL_MS);
    return () => clearInterval(again);
  }, [cache, live.state, what, url]);
  return url ? live : undefined;
}

/** Calls `read` for the first event at once and then for all of a second together; a hidden page waits until it is looked at. `all`:
 *  whether one of them asked for everything. */
export function together(read: (all: boolean) => void) {
  let waiting = false;
  let all = false;
  let timer: number | undefined;
  const go = () => {
    timer = undefined;
    if (!waiting || document.hidden) return;
    const everything = all;
    [waiting, all] = [false, false];
    timer = window.setTimeout(go, TOGETHER_MS);
    read(everything);
  };
  const looked = () => { if (timer === undefined) go(); };
  document.addEventListener("visibilitychange", looked);
  return {
    soon: (everything: boolean) => {
      [waiting, all] = [true, all || everything];
      looked();
    },
    stop: () => {
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", looked);
    },
  };
}
