import { fireEvent, render, screen, waitFor } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import { Topology } from "../components/topology/Topology";
import type { TopologyData } from "../components/topology/layout";
import { de } from "../i18n/de";
import { en } from "../i18n/en";
import { formats } from "../i18n/format";
import { Localised } from "../i18n";
import { asCommand, asPython, EMPTY } from "../pages/create/draft";
import { filterOf } from "../pages/clusters/filter";

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
  expect(formats("de").amount(1234.5, "EUR")).toBe("1.234,50\u00a0€");
  expect(formats("en").duration(3725)).toBe("1 hr 2 mins");
});

test("a filter of several states asks for any of them", () => {
  const token = (propertyKey: string | undefined, value: string) => ({ propertyKey, operator: "=", value });
  expect(filterOf([token("state", "active"), token("state", "error"), token(undefined, "bert")]))
    .toEqual({ state: ["active", "error"], region: undefined, flavor: undefined, q: "bert" });
});

test("a request is shown so that a shell and Python read the same texts", () => {
  const draft = { ...EMPTY, name: "bert", region: "r", flavor: "f", image: "i", keys: ["my key"], tags: [{ key: "team", value: "o'hara $x" }], protect: true };
  expect(asCommand({ ...draft, servers: 2 })).toContain("--poplar-servers 2");
  expect(asCommand(draft)).toContain(String.raw`--ssh-key 'my key'`);
  expect(asCommand(draft)).toContain(String.raw`--tag 'team=o'\''hara $x'`);
  expect(asPython(draft, "demo", "https://x")).toContain('tags={"team":"o\'hara $x"}');
});
