import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { ofSession } from "./client";

export type LiveState = "connecting" | "live" | "offline" | "polling";
type News = { state: LiveState } | { changed: string };
type Message = News | { asks: "state" };

const POLL_MS = 5_000;

/** One stream of events for the browser, not one per tab: HTTP/1.1 allows six connections per host, and a seventh tab
 *  would wait for ever. The tab that holds the Web Lock owns the stream and passes events on over a BroadcastChannel.
 *  Where there are no locks (plain HTTP on another host) each visible tab has a stream. */
export function openLive(url: string, receive: (message: News) => void): () => void {
  const channel = new BroadcastChannel(`panel ${url}`);
  let known: LiveState | undefined; // of the stream that this tab owns, for tabs that are opened later
  channel.onmessage = (event: MessageEvent<Message>) => {
    if (!("asks" in event.data)) receive(event.data);
    else if (known) channel.postMessage({ state: known });
  };
  channel.postMessage({ asks: "state" });
  const stop = new AbortController();
  const tell = (message: News) => {
    if (stop.signal.aborted) return;
    if ("state" in message) known = message.state;
    receive(message);
    channel.postMessage(message);
  };
  let close = () => {};
  const own = () => { close = follow(url, tell); };
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

function follow(url: string, tell: (message: News) => void): () => void {
  let source: EventSource;
  let retry: number | undefined;
  let was = false;
  const open = () => {
    source = new EventSource(ofSession(url));
    source.onopen = () => {
      was = true;
      tell({ state: "live" });
    };
    source.onerror = () => {
      // CLOSED: the server refused (a session that ended, a restart), and the browser does not try again by itself.
      const refused = source.readyState === EventSource.CLOSED;
      tell({ state: refused ? "polling" : was ? "offline" : "connecting" });
      if (refused) retry = window.setTimeout(open, 3 * POLL_MS);
    };
    const named = (event: Event) => tell({ changed: event.type.split(".")[0] ?? "" });
    for (const type of EVENT_TYPES) source.addEventListener(type, named);
  };
  open();
  return () => {
    clearTimeout(retry);
    source.close();
  };
}

// EventSource has no listener for "any type". A test compares these with the API's description.
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
  payment: "failed received refunded",
  price: "missing supplied",
  price_correction: "accepted finished",
};

const typesOf = (types: Record<string, string>) => Object.fromEntries(Object.entries(types).map(([noun, verbs]) => [noun, verbs.split(" ").map((verb) => `${noun}.${verb}`)]));

/** What events of projects are about, with their types. */
export const TYPES_OF = typesOf(TYPES);

/** The types of events to listen for; `gap` means that events were missed. */
export const EVENT_TYPES = [...Object.values(TYPES_OF), ...Object.values(typesOf(OTHER_TYPES)), ["gap"]].flat();

/** Whose events are followed: a project's, those of a payer's billing account, those of operators. */
export type Followed = { project?: string | undefined; account?: string | null | undefined; operator?: boolean };

/** Keeps what is shown up to date: what an event is about is read again, and everything after a gap. */
export function useLive({ project, account, operator }: Followed): LiveState {
  const states = [
    useStream("project", project ? `/v1/projects/${encodeURIComponent(project)}/events/stream` : undefined),
    useStream("account", account ? `/v1/billing/accounts/${account}/events/stream` : undefined),
    useStream("operator", operator ? "/v1/operator/events/stream" : undefined),
  ];
  return states.find((state) => state !== undefined) ?? "polling";
}

/** One stream; `what`: first part of the keys of what it is about. Undefined: there is none. */
function useStream(what: string, url: string | undefined): LiveState | undefined {
  const cache = useQueryClient();
  const [state, setState] = useState<LiveState>("connecting");
  useEffect(() => {
    if (!url) return;
    let last: LiveState | undefined;
    return openLive(url, (message) => {
      if ("changed" in message) {
        void cache.invalidateQueries({ predicate: (query) => message.changed === "gap" || query.queryKey[0] === what });
        return;
      }
      if (message.state === "live" && last && last !== "live") void cache.invalidateQueries();
      last = message.state;
      setState(message.state);
    });
  }, [cache, what, url]);
  useEffect(() => {
    if (state !== "polling" || !url) return;
    const again = window.setInterval(() => void cache.invalidateQueries({ predicate: (query) => query.queryKey[0] === what }), POLL_MS);
    return () => clearInterval(again);
  }, [cache, state, what, url]);
  return url ? state : undefined;
}
