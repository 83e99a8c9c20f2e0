import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { ADDRESS_SKU, addressPage, type Address } from "../api/addresses";
import { clusterPage, type Cluster } from "../api/queries";
import { Addresses } from "../pages/Addresses";
import { AddressAction } from "../pages/addresses/AddressAction";
import { CreateAddress } from "../pages/addresses/CreateAddress";
import { button, choose, off, price, sent, shown, type } from "./shown";

const PRICES = [price(ADDRESS_SKU, "lux", "0.0001")];
const address = {
  id: "a1", name: "frontdoor", region: "lux", state: "attached", state_reason: null, ip: "203.0.113.17", port: 22, allowed_sources: [] as string[], cluster: "c1", cluster_name: "bert",
  command: "ssh -p 22 ipuuser@203.0.113.17", created_at: "2026-05-04T09:29:58Z",
} as Address;
const free = { ...address, id: "a2", name: "spare", state: "available", ip: "203.0.113.18", cluster: null, cluster_name: null, command: null } as Address;
const cluster = { id: "c1", name: "bert", region: "lux", state: "active", flavor: "m2000-pod16" } as Cluster;

afterEach(() => vi.unstubAllGlobals());

test("an address is reserved where it has a price, which is shown before", async () => {
  const close = vi.fn();
  await shown(<CreateAddress prices={PRICES as never} onClose={close} />, PRICES);
  expect(await screen.findByText("€4.32 for 30 days at the present price.")).toBeTruthy(); // 0.0001 × 43,200 minutes
  expect(off("Reserve address")).toBe(true);
  type("Name", " frontdoor ");
  fireEvent.click(button("Reserve address"));
  await waitFor(() => expect(close).toHaveBeenCalled());
  expect(sent).toEqual([{ method: "POST", path: "/v1/projects/demo/addresses", body: { name: "frontdoor", region: "lux" } }]);
});

test("the page shows how to log in through each address", async () => {
  const open = ["creating", "available", "attaching", "attached", "detaching", "deleting", "error"] as const;
  const listed = addressPage("demo", { state: [...open], order: "-created_at", limit: 50 });
  await shown(<Addresses />, PRICES, [[listed.queryKey, { items: [address, free], next_cursor: null }]]);
  const row = async (name: string) => within((await screen.findByText(name)).closest("tr") as HTMLElement);
  const attached = await row("frontdoor");
  for (const text of ["203.0.113.17", "ssh -p 22 ipuuser@203.0.113.17", "bert", "Attached", "Luxembourg"]) expect(attached.getByText(text)).toBeTruthy();
  expect((await row("spare")).queryByText(/^ssh/)).toBeNull();
});

test("an address is attached to a cluster in use in its region", async () => {
  const elsewhere = { ...cluster, id: "c2", name: "gpt", region: "ams" };
  const asleep = { ...cluster, id: "c3", name: "resting", state: "suspended" };
  const clusters = clusterPage("demo", { order: "-created_at", limit: 200 });
  await shown(<AddressAction address={free} action="attach" onClose={vi.fn()} />, PRICES, [[clusters.queryKey, { items: [cluster, elsewhere, asleep] }]]);
  await screen.findByRole("dialog");
  expect(off("Attach")).toBe(true);
  await choose(/Choose a cluster/, /bert/);
  expect(screen.queryByRole("option", { name: /gpt|resting/ })).toBeNull();
  fireEvent.click(button("Attach"));
  await waitFor(() => expect(sent).toEqual([{ method: "POST", path: "/v1/projects/demo/addresses/a2:attach", body: { cluster: "c1" } }]));
});

test("an address is limited to the networks that are typed", async () => {
  await shown(<AddressAction address={{ ...address, allowed_sources: ["192.0.2.0/24"] }} action="sources" onClose={vi.fn()} />, PRICES);
  await screen.findByRole("dialog");
  expect((screen.getByLabelText("Allowed sources") as HTMLTextAreaElement).value).toBe("192.0.2.0/24");
  type("Allowed sources", "203.0.113.0/24, 2001:db8::7");
  fireEvent.click(button("Save"));
  await waitFor(() => expect(sent).toEqual([{ method: "PATCH", path: "/v1/projects/demo/addresses/a1", body: { allowed_sources: ["203.0.113.0/24", "2001:db8::7"] } }]));
});

test("an address is deleted when its name was typed", async () => {
  await shown(<AddressAction address={free} action="delete" onClose={vi.fn()} />, PRICES);
  await screen.findByRole("dialog");
  expect(off("Delete")).toBe(true);
  type("Enter spare to confirm", "spare");
  fireEvent.click(button("Delete"));
  await waitFor(() => expect(sent).toEqual([{ method: "DELETE", path: "/v1/projects/demo/addresses/a2", body: null }]));
});
