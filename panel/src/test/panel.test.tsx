import { fireEvent, render, screen, waitFor } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import { Topology } from "../components/topology/Topology";
import type { TopologyData } from "../components/topology/layout";
import { de } from "../i18n/de";
import { en } from "../i18n/en";
import { formats } from "../i18n/format";
import { ShownOnce } from "../components/ShownOnce";
import { Localised } from "../i18n";
import { alternatives } from "../pages/create/alternatives";
import { affected } from "../pages/create/budgets";
import { asCommand, asPython, dropDraft, EMPTY, faultOfName, keepDraft, keptDraft, requestOf } from "../pages/create/draft";
import { appended, type Log } from "../api/log";
import { openLive, together } from "../api/live";
import { csvOf } from "../components/csv";
import { zones } from "../components/ZoneSelect";
import { plain } from "../components/plain";
import { lineOf, wordsOf } from "../components/words";
import { filterOf } from "../pages/clusters/filter";
import { ScopeChoice } from "../pages/tokens/ScopeChoice";
import { givable } from "../pages/tokens/scopes";

const machine = (slot: number, partition: string | null) => ({
  name: `m${slot}`, rack: "r1", slot, health: "ok" as const, observed_at: null, faults: [], ipus: [0, 1, 2, 3].map((ipu) => ({ ipu, partition })),
});
const link = (one: string, other: string, state: "up" | "down") => ({ kind: "ipu-link" as const, ends: [one, other], state, observed_at: null });
const data: TopologyData = {
  racks: [{ name: "r1", domain: 0, topology: "torus", machines: ["m4", "m5", "m6"] }],
  machines: [machine(4, "p1"), machine(5, "p1"), machine(6, null)],
  links: [link("m4", "m5", "up"), link("m5", "m6", "down"), link("m6", "m4", "up")],
  partitions: [{ name: "train", partition_id: "p1", origin: "api", state: "active", state_reason: null, controller: null, size: 8, ipus: [] }],
  free_ipus: 4, largest_partition: 4, partition_sizes: [], observed_at: null,
};

test("the topology shows each IPU with its partition, and is worked by arrow keys and Enter", async () => {
  const pick = vi.fn();
  const { container } = render(<Localised><Topology data={data} onSelect={pick} /></Localised>);
  const picture = await waitFor(() => screen.getByRole("group"), { timeout: 10_000 });
  expect(picture.getAttribute("aria-label")).toContain("1 link not up");
  expect(container.querySelectorAll(".topology-ipu.is-partition-0")).toHaveLength(8);
  expect(container.querySelectorAll(".topology-ipu.is-free")).toHaveLength(4);
  const first = screen.getByRole("button", { name: /^m4, rack r1, slot 4, Healthy, train/ });
  first.focus();
  fireEvent.keyDown(first, { key: "ArrowUp" });
  expect(document.activeElement?.getAttribute("aria-label")).toMatch(/^m5/);
  fireEvent.keyDown(document.activeElement as Element, { key: "Enter" });
  expect(pick).toHaveBeenCalledWith("m5");
});

test("German has a text for each English one, and its own numbers", () => {
  const shape = (node: unknown): unknown =>
    node && typeof node === "object" ? Object.fromEntries(Object.entries(node).sort().map(([key, value]) => [key, shape(value)])) : typeof node;
  expect(shape(de)).toEqual(shape(en));
  expect(formats("de", "UTC").amount(1234.5, "EUR")).toBe("1.234,50\u00a0€");
  expect(formats("en", "UTC").duration(3725)).toBe("1 hr 2 mins");
  expect(formats("en", "UTC").duration(86_400)).toBe("1 day");
});

test("a filter of several states asks for any of them", () => {
  const token = (propertyKey: string | undefined, value: string) => ({ propertyKey, operator: "=", value });
  expect(filterOf([token("state", "active"), token("state", "error"), token(undefined, "bert")]))
    .toEqual({ state: ["active", "error"], region: undefined, flavor: undefined, q: "bert" });
});

test("a filter of several tags asks for all of them, and a value may have an equals sign", () => {
  const token = (value: string) => ({ propertyKey: "tag", operator: "=", value });
  expect(filterOf([token("team=nlp"), token("note=a=b"), token("team=vision")])).toMatchObject({ "tag.team": "vision", "tag.note": "a=b" });
});

test("a request is shown so that a shell and Python read the same texts", () => {
  const draft = { ...EMPTY, name: "bert", region: "r", flavor: "f", image: "i", keys: ["my key"], tags: [{ key: "team", value: "o'hara $x" }], protect: true };
  expect(asCommand({ ...draft, servers: 2 })).toContain("--poplar-servers 2");
  expect(asCommand({ ...draft, wait: true })).toContain("--wait-for-capacity");
  expect(asCommand({ ...draft, preemptible: true })).toContain("--preemptible");
  const stored = { ...draft, buckets: ["lake"], expires: "2026-12-01T08:00:00.000Z" };
  expect(asCommand(stored)).toContain("--s3-connection lake \\\n  --expires-at 2026-12-01T08:00:00.000Z");
  const keeping = { ...draft, volumes: ["data"] };
  expect(requestOf(keeping).volumes).toEqual([{ volume: "data" }]);
  expect(asCommand(keeping)).toContain("--volume data");
  expect(asPython(keeping, "demo", "https://x")).toContain('volumes=["data"]');
  expect(asPython(stored, "demo", "https://x")).toContain('expires_at=datetime.fromisoformat("2026-12-01T08:00:00.000+00:00")');
  expect(asPython({ ...draft, preemptible: true }, "demo", "https://x")).toContain("preemptible=True");
  expect(asPython({ ...draft, wait: true }, "demo", "https://x")).toContain("wait_for_capacity=True");
  const guarded = { ...draft, sources: "203.0.113.0/24, 2001:db8::/32\n" };
  expect(requestOf(guarded).allowed_sources).toEqual(["203.0.113.0/24", "2001:db8::/32"]);
  expect(asCommand(guarded)).toContain("--allow-from 203.0.113.0/24 \\\n  --allow-from 2001:db8::/32");
  expect(asPython(guarded, "demo", "https://x")).toContain('allowed_sources=["203.0.113.0/24","2001:db8::/32"]');
  expect(asCommand(draft)).toContain(String.raw`--ssh-key 'my key'`);
  expect(asCommand(draft)).toContain(`--tag 'team=o'"'"'hara $x'`);
  expect(asPython(draft, "demo", "https://x")).toContain('tags={"team":"o\'hara $x"}');
});

test("a list becomes CSV that spreadsheets read as text", () => {
  const items = [{ at: "2026-05-04", name: 'a, "b"', count: -3, data: { region: "r" }, by: null }, { at: "2026-05-05", name: "=1+1" }];
  expect(csvOf(items)).toBe('at,name,count,data,by\r\n2026-05-04,"a, ""b""",-3,"{""region"":""r""}",\r\n2026-05-05,\'=1+1,,,\r\n');
  for (const first of ["+", "-", "@", "\0", "\uff1d", "\uff0b", "\uff0d", "\uff20"]) expect(csvOf([{ a: `${first}1` }])).toBe(`a\r\n'${first}1\r\n`);
});

test("UTC can be chosen as a zone, once, even where the browser's list lacks it", () => {
  expect(zones().filter((zone) => zone === "UTC")).toEqual(["UTC"]);
});

test("a cluster counts for the budgets of the project and of its tags, until the month ends", () => {
  const eur = (amount: string) => ({ amount, currency: "EUR" });
  const budget = (name: string, tag: object | null) => ({ name, tag, amount: eur("900"), actual: eur("10"), forecast: eur("100") });
  const all = [budget("all", null), budget("nlp", { key: "team", value: "nlp" }), budget("vision", { key: "team", value: "vision" })] as never;
  const found = affected(all, { tags: [{ key: "team", value: "nlp" }] }, eur("15.00"), new Date("2026-11-30T00:00:00Z"));
  expect(found.map((each) => [each.budget.name, each.before, each.after])).toEqual([["all", 100, 460], ["nlp", 100, 460]]);
});

test("a command line is read in words as a shell reads it, and shown again", () => {
  const words = ["python3", "train.py", "--name", "o'hara's run", ""];
  expect(wordsOf(lineOf(words))).toEqual(words);
  expect(wordsOf("echo 'a")).toBeNull();
  expect(wordsOf('  ipu-run -- sh -c "echo a b" ')).toEqual(["ipu-run", "--", "sh", "-c", "echo a b"]);
});

test("output is shown without colours, and of a progress bar its last state", () => {
  expect(plain("\u001b[1;31mloss\u001b[0m 3\r\n 10%|#  |\r100%|###|\r\nend")).toBe("loss 3\n100%|###|\nend");
});

test("a long output keeps its end, across attempts", () => {
  const part = (attempt: number, text: string) => ({ attempt, text });
  const none: Log = { outputs: [], next: 0, cut: false, complete: false };
  const first = appended(none, { items: [part(1, "a"), part(1, "b"), part(2, "c")], next: 3, complete: false });
  expect(first).toEqual({ outputs: [{ attempt: 1, text: "ab" }, { attempt: 2, text: "c" }], next: 3, cut: false, complete: false });
  const long = appended(first, { items: [part(2, "d".repeat(256 * 1024))], next: 4, complete: true });
  expect(long.cut && long.complete).toBe(true);
  expect(long.outputs).toEqual([{ attempt: 2, text: "d".repeat(256 * 1024) }]);
});

test("where a size does not fit, the nearest that do are offered, here and elsewhere, within the quota", () => {
  const flavor = (name: string, ipus: number, machine_type = "m2000") => ({ name, ipus, machines: ipus / 4, machine_type });
  const flavors = [flavor("pod4", 4), flavor("pod16", 16), flavor("pod32", 32), flavor("pod64", 64), flavor("bow-pod16", 16, "bow")] as never;
  const free = (...names: string[]) => names.map((each) => ({ flavor: each, available: 1 })) as never;
  const quota = (region: string, limit: number) => ({ region, machine_type: "m2000", limit, used: 0 });
  const rooms = [
    { region: "here", flavors, capacity: free("pod4", "pod16", "pod64", "bow-pod16") },
    { region: "there", flavors, capacity: free("pod32") },
    { region: "poor", flavors, capacity: free("pod32") },
  ];
  const found = alternatives({ region: "here", flavor: "pod32" }, rooms, [quota("here", 8), quota("there", 8), quota("poor", 4)] as never);
  expect(found.sizes.map((each) => each.flavor.name)).toEqual(["pod16", "pod4"]); // pod64 is beyond the quota
  expect(found.regions.map((each) => each.region)).toEqual(["there"]);
});

test("a connection that is lost, refused or silent says so until it is made again after the last event", async () => {
  vi.useFakeTimers();
  vi.stubGlobal("BroadcastChannel", class { postMessage() {} close() {} });
  const asked: (string | null)[] = [];
  const stream = (start: (sink: ReadableStreamDefaultController<Uint8Array>) => void) => new Response(new ReadableStream({ start }));
  const text = (written: string) => new TextEncoder().encode(written);
  const answers = [
    () => { throw new TypeError("not reachable"); },
    () => stream((sink) => {
      for (const part of ["id: 7\nretry: 2000\n\n: still here\n\nid: 8\neve", "nt: cluster.active\ndata: {}\n\n"]) sink.enqueue(text(part));
      sink.close();
    }),
    () => new Response(null, { status: 503 }),
    () => stream(() => undefined),
  ];
  vi.stubGlobal("fetch", async (_: string, { headers, signal }: { headers: Record<string, string>; signal: AbortSignal }) => {
    asked.push(headers["Last-Event-ID"] ?? null);
    const answer = answers.shift() ?? (() => new Response(null, { status: 503 }));
    const given = answer();
    if (!given.body || answers.length) return given;
    const reader = given.body.getReader();
    const read = () => Promise.race([reader.read(), new Promise<never>((_done, fail) => signal.addEventListener("abort", () => fail(new Error("aborted"))))]);
    return { ok: true, body: { getReader: () => ({ read }) } } as unknown as Response;
  });
  const told: unknown[] = [];
  const stop = openLive("/stream", (message) => told.push("state" in message ? message.state : message.changed));
  for (const pause of [0, 2_000, 2_000, 15_000, 45_000]) await vi.advanceTimersByTimeAsync(pause);
  stop();
  vi.unstubAllGlobals();
  vi.useRealTimers();
  expect(told).toEqual(["connecting", "live", "cluster", "offline", "polling", "live", "offline"]);
  expect(asked.slice(0, 4)).toEqual([null, null, "8", "8"]);
});

test("what many events are about is read once a second, and not where nobody looks", () => {
  vi.useFakeTimers();
  const reads: boolean[] = [];
  const hidden = vi.spyOn(document, "hidden", "get").mockReturnValue(false);
  const again = together((all) => reads.push(all));
  for (const all of [false, false, true, false]) again.soon(all);
  expect(reads).toEqual([false]);
  vi.advanceTimersByTime(1_000);
  expect(reads).toEqual([false, true]);
  hidden.mockReturnValue(true);
  vi.advanceTimersByTime(1_000);
  again.soon(false);
  expect(reads).toEqual([false, true]);
  hidden.mockReturnValue(false);
  document.dispatchEvent(new Event("visibilitychange"));
  expect(reads).toEqual([false, true, false]);
  again.stop();
  hidden.mockRestore();
  vi.useRealTimers();
});

test("a token gets everything of its role, or scopes in their order, and from a narrowed token none that this lacks", async () => {
  const change = vi.fn();
  const choice = (chosen: string[] | null) => (
    <Localised><ScopeChoice offered={["cluster:read", "project:read"]} all chosen={chosen} onChange={change} /></Localised>
  );
  const { rerender } = render(choice(null));
  fireEvent.click(await waitFor(() => screen.getByRole("radio", { name: "Only these" }), { timeout: 10_000 }));
  expect(change).toHaveBeenLastCalledWith([]);
  rerender(choice(["project:read"]));
  fireEvent.click(screen.getByRole("checkbox", { name: "cluster:read" }));
  expect(change).toHaveBeenLastCalledWith(["cluster:read", "project:read"]);
  fireEvent.click(screen.getByRole("checkbox", { name: "project:read" }));
  expect(change).toHaveBeenLastCalledWith([]);
  fireEvent.click(screen.getByRole("radio", { name: "Everything the role allows" }));
  expect(change).toHaveBeenLastCalledWith(null);
  expect(givable("viewer", { narrowed: true, scopes: ["cluster:read", "token:write"] })).toEqual(["cluster:read"]);
  expect(givable("viewer", { narrowed: false, scopes: [] })).toContain("usage:read");
});

test("a secret that is shown once is not lost by Escape", async () => {
  const close = vi.fn();
  render(<Localised><ShownOnce title="Token ci" text="For CI." secret="secret" onClose={close} /></Localised>);
  fireEvent.keyDown(await waitFor(() => screen.getByRole("dialog"), { timeout: 10_000 }), { key: "Escape", keyCode: 27 });
  expect(close).not.toHaveBeenCalled();
  fireEvent.click(screen.getByRole("button", { name: "I have kept it" }));
  expect(close).toHaveBeenCalledOnce();
});

test("a draft of a cluster outlives a reload, but not another question, and its name loses spaces around it", () => {
  const draft = { ...EMPTY, name: "bert ", keys: ["laptop"] };
  keepDraft("demo", "[]", draft);
  expect(keptDraft("demo", "[]")).toEqual(draft);
  expect([keptDraft("other", "[]"), keptDraft("demo", '["lux"]')]).toEqual([undefined, undefined]);
  dropDraft();
  expect(keptDraft("demo", "[]")).toBeUndefined();
  expect(requestOf(draft).name).toBe("bert");
  expect(["bert ", "b", "Bert", "1b", "b-", "b".repeat(63), "b".repeat(64)].map(faultOfName)).toEqual([null, null, "form", "form", "form", null, "length"]);
});
