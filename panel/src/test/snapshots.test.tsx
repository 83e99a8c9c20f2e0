import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { fireEvent, render, screen, waitFor } from "@testing-library/react";
import type { ReactNode } from "react";
import { afterEach, expect, test, vi } from "vitest";
import { projectPrices } from "../api/catalogue";
import { regions } from "../api/queries";
import { projects, whoami } from "../api/session";
import { SNAPSHOT_SKU, type Snapshot } from "../api/snapshots";
import { VOLUME_SKU, type Volume } from "../api/volumes";
import { Flashes } from "../app/Flashes";
import { Project } from "../app/Project";
import { Localised } from "../i18n";
import { CreateVolume } from "../pages/volumes/CreateVolume";
import { SnapshotAction } from "../pages/volumes/SnapshotAction";
import { TakeSnapshot } from "../pages/volumes/TakeSnapshot";

const price = (sku: string, region: string, amount: string) => ({
  sku, region, unit_price: { amount, currency: "EUR" }, valid_from: "2020-01-01T00:00:00Z", valid_to: null,
});
const PRICES = [price(VOLUME_SKU, "lux", "0.0002"), price(VOLUME_SKU, "ams", "0.0002"), price(SNAPSHOT_SKU, "lux", "0.0001")];
const snapshot = { id: "s1", name: "before-tuning", region: "lux", size_gib: 100, state: "available" } as Snapshot;
const volume = { id: "v1", name: "checkpoints", region: "lux", size_gib: 100, state: "attached" } as Volume;

const sent: { method: string; path: string; body: unknown }[] = [];

/** What a signed-in person sees, with prices and regions read already; requests are kept and answered. */
async function show(part: ReactNode) {
  sent.length = 0;
  vi.stubGlobal("fetch", async (request: Request) => {
    if (request.method === "GET") return Response.json({ items: PRICES }); // prices, which are read again after a change
    const text = await request.text();
    sent.push({ method: request.method, path: new URL(request.url).pathname, body: text ? JSON.parse(text) : null });
    return Response.json({}, { status: 202 });
  });
  const cache = new QueryClient({ defaultOptions: { queries: { staleTime: Infinity } } });
  const known: [readonly unknown[], unknown][] = [
    [whoami.queryKey, { token: {}, project: { slug: "demo" }, scopes: ["cluster:write"] }],
    [projects.queryKey, { items: [] }],
    [projectPrices("demo").queryKey, { items: PRICES }],
    [regions.queryKey, { items: [{ slug: "lux", name: "Luxembourg" }, { slug: "ams", name: "Amsterdam" }] }],
  ];
  for (const [key, value] of known) cache.setQueryData(key, value);
  render(<QueryClientProvider client={cache}><Localised><Project><Flashes>{part}</Flashes></Project></Localised></QueryClientProvider>);
  await waitFor(() => screen.getByRole("dialog"));
}

const type = (label: string, value: string) => fireEvent.change(screen.getByLabelText(label), { target: { value } });
const button = (name: string) => screen.getByRole<HTMLButtonElement>("button", { name });

afterEach(() => vi.unstubAllGlobals());

test("a volume from a snapshot is in its region, and not smaller", async () => {
  await show(<CreateVolume prices={PRICES as never} snapshot={snapshot} onClose={vi.fn()} />);
  type("Name", "tuned");
  expect(screen.getByLabelText<HTMLInputElement>("Size in GiB").value).toBe("100");
  type("Size in GiB", "99");
  expect(button("Create volume").disabled).toBe(true);
  type("Size in GiB", "200");
  fireEvent.click(button("Create volume"));
  await waitFor(() => expect(sent).toEqual([
    { method: "POST", path: "/v1/projects/demo/volumes", body: { name: "tuned", region: "lux", size_gib: 200, snapshot: "s1" } },
  ]));
});

test("a snapshot is taken of the volume whose action it is, and shows its price before", async () => {
  const close = vi.fn();
  await show(<TakeSnapshot volume={volume} onClose={close} />);
  expect(screen.getByText("€432.00 for 30 days at the present price.")).toBeTruthy(); // 0.0001 × 100 GiB × 43,200 minutes
  expect(button("Take snapshot").disabled).toBe(true);
  type("Name", " before-tuning ");
  fireEvent.click(button("Take snapshot"));
  await waitFor(() => expect(close).toHaveBeenCalled());
  expect(sent).toEqual([{ method: "POST", path: "/v1/projects/demo/snapshots", body: { name: "before-tuning", volume: "v1" } }]);
});

test("a snapshot is deleted when its name was typed; what it saves is shown only of one that is billed", async () => {
  await show(<SnapshotAction snapshot={snapshot} action="delete" onClose={vi.fn()} />);
  expect(screen.getByText("It costs €432.00 for 30 days at the present price.")).toBeTruthy();
  expect(button("Delete").disabled).toBe(true);
  type("Enter before-tuning to confirm", "before-tuning");
  fireEvent.click(button("Delete"));
  await waitFor(() => expect(sent).toEqual([{ method: "DELETE", path: "/v1/projects/demo/snapshots/s1", body: null }]));
});
