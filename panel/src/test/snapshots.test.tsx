import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import type { ReactNode } from "react";
import { afterEach, expect, test, vi } from "vitest";
import { clusterPage, images, type Cluster } from "../api/queries";
import { SNAPSHOT_SKU, snapshotPage, type Snapshot } from "../api/snapshots";
import { VOLUME_SKU, volumePage, type Volume } from "../api/volumes";
import { EMPTY } from "../pages/create/draft";
import { SoftwareStep } from "../pages/create/SoftwareStep";
import { CreateVolume } from "../pages/volumes/CreateVolume";
import { SnapshotAction } from "../pages/volumes/SnapshotAction";
import { SnapshotTable } from "../pages/volumes/SnapshotTable";
import { TakeSnapshot } from "../pages/volumes/TakeSnapshot";
import { button, choose, type Known, off, price, sent, shown, type } from "./shown";

const PRICES = [price(VOLUME_SKU, "lux", "0.0002"), price(VOLUME_SKU, "ams", "0.0002"), price(SNAPSHOT_SKU, "lux", "0.0001")];
const snapshot = { id: "s1", name: "before-tuning", region: "lux", size_gib: 100, state: "available", created_at: "2026-05-04T09:29:58Z" } as Snapshot;
const volume = { id: "v1", name: "checkpoints", region: "lux", size_gib: 100, state: "attached" } as Volume;
const ofServer = {
  ...snapshot, id: "s2", name: "bert-ready", size_gib: 12, cluster: "c1", cluster_name: "bert", poplar_server: "clu-01-1-p0", image: "poplar-3.0",
} as Snapshot;
const cluster = { id: "c1", name: "bert", region: "lux", state: "active", poplar_servers: [{ id: "p0", name: "clu-01-1-p0" }, { id: "p1", name: "clu-01-1-p1" }] } as Cluster;

/** As a signed-in person sees it. */
const show = (part: ReactNode, more: Known[] = []) => shown(part, PRICES, more);

afterEach(() => vi.unstubAllGlobals());

test("a volume from a snapshot is in its region, and not smaller", async () => {
  await show(<CreateVolume prices={PRICES as never} snapshot={snapshot} onClose={vi.fn()} />);
  await screen.findByRole("dialog");
  type("Name", "tuned");
  expect(screen.getByLabelText<HTMLInputElement>("Size in GiB").value).toBe("100");
  type("Size in GiB", "99");
  expect(off("Create volume")).toBe(true);
  type("Size in GiB", "200");
  fireEvent.click(button("Create volume"));
  await waitFor(() => expect(sent).toEqual([
    { method: "POST", path: "/v1/projects/demo/volumes", body: { name: "tuned", region: "lux", size_gib: 200, snapshot: "s1" } },
  ]));
});

test("a snapshot is taken of the volume whose action it is, and shows its price before", async () => {
  const close = vi.fn();
  await show(<TakeSnapshot volume={volume} onClose={close} />);
  expect(await screen.findByText("€432.00 for 30 days at the present price.")).toBeTruthy(); // 0.0001 × 100 GiB × 43,200 minutes
  expect(off("Take snapshot")).toBe(true);
  type("Name", " before-tuning ");
  fireEvent.click(button("Take snapshot"));
  await waitFor(() => expect(close).toHaveBeenCalled());
  expect(sent).toEqual([{ method: "POST", path: "/v1/projects/demo/snapshots", body: { name: "before-tuning", volume: "v1" } }]);
});

test("a snapshot is deleted when its name was typed; what it saves is shown only of one that is billed", async () => {
  await show(<SnapshotAction snapshot={snapshot} action="delete" onClose={vi.fn()} />);
  expect(await screen.findByText("It costs €432.00 for 30 days at the present price.")).toBeTruthy();
  expect(off("Delete")).toBe(true);
  type("Enter before-tuning to confirm", "before-tuning");
  fireEvent.click(button("Delete"));
  await waitFor(() => expect(sent).toEqual([{ method: "DELETE", path: "/v1/projects/demo/snapshots/s1", body: null }]));
});

test("a snapshot of a cluster's server is of the first, or of the one that is chosen", async () => {
  await show(<TakeSnapshot cluster={cluster} onClose={vi.fn()} />);
  expect(await screen.findByText(/^€4.32 per GiB for 30 days/)).toBeTruthy(); // its size is not known before
  expect(screen.getByText(/Secrets that you put on the disk/)).toBeTruthy();
  type("Name", "bert-ready");
  expect(off("Take snapshot")).toBe(false);
  await choose(/bert, Server 1/, /bert, Server 2/);
  fireEvent.click(button("Take snapshot"));
  await waitFor(() => expect(sent).toEqual([
    { method: "POST", path: "/v1/projects/demo/snapshots", body: { name: "bert-ready", cluster: "c1", poplar_server: "p1" } },
  ]));
});

test("a snapshot is taken of a volume, or of a server of a cluster in use", async () => {
  const suspended = { ...cluster, id: "c2", name: "gpt", state: "suspended" };
  await show(<TakeSnapshot onClose={vi.fn()} />, [
    [volumePage("demo", { state: ["available", "attached"], order: "-created_at", limit: 200 }).queryKey, { items: [volume] }],
    [clusterPage("demo", { order: "-created_at", limit: 200 }).queryKey, { items: [cluster, suspended] }],
  ]);
  fireEvent.mouseDown(await screen.findByRole("button", { name: /Choose a volume or a server/ }));
  expect((await screen.findAllByRole("option")).map((each) => each.textContent)).toEqual([
    expect.stringContaining("checkpoints"), expect.stringContaining("bert, Server 1"), expect.stringContaining("bert, Server 2"),
  ]);
  fireEvent.mouseUp(screen.getByRole("option", { name: /bert, Server 1/ }));
  type("Name", "bert-ready");
  fireEvent.click(button("Take snapshot"));
  await waitFor(() => expect(sent[0]?.body).toEqual({ name: "bert-ready", cluster: "c1", poplar_server: "p0" }));
});

test("a snapshot of a server leads to the cluster, and to a new one that is made from it", async () => {
  const list = snapshotPage("demo", { state: ["creating", "available", "deleting", "error"], order: "-created_at", limit: 50, cursor: undefined });
  const copying = { ...ofServer, id: "s3", name: "copying", state: "creating", size_gib: null };
  await show(<SnapshotTable />, [[list.queryKey, { items: [ofServer, copying, { ...snapshot, volume_name: "checkpoints" }] }]]);
  const row = async (name: string) => within((await screen.findByText(name)).closest("tr") as HTMLElement);
  expect((await row("bert-ready")).getByRole("link", { name: "bert" }).getAttribute("href")).toBe("/p/demo/clusters/c1");
  expect((await row("bert-ready")).getByText("12 GiB")).toBeTruthy();
  expect((await row("copying")).getByText("–")).toBeTruthy();
  expect((await row("before-tuning")).getByText("Volume checkpoints")).toBeTruthy();
  fireEvent.click(button("Actions for before-tuning"));
  expect(await screen.findByText("Create volume from it")).toBeTruthy();
  expect(screen.queryByText("Create cluster from it")).toBeNull();
  fireEvent.click(button("Actions for before-tuning"));
  fireEvent.click(button("Actions for bert-ready"));
  fireEvent.click(await screen.findByText("Create cluster from it"));
  await waitFor(() => expect(screen.getByTestId("address").textContent).toBe("/p/demo/clusters/create?region=lux&image=bert-ready"));
});

test("a new cluster can have a snapshot of a server as its image, in the snapshot's region", async () => {
  const change = vi.fn();
  const own = snapshotPage("demo", { state: ["available"], order: "-created_at", limit: 200 });
  const shadowed = { ...ofServer, id: "s5", name: "poplar-3.0" }; // the catalogue has an image of this name
  await show(<SoftwareStep draft={{ ...EMPTY, region: "lux", image: "poplar-3.0" }} change={change} />, [
    [images("lux").queryKey, { items: [{ name: "poplar-3.0", os: "Ubuntu", os_version: "20.04", sdk_version: "3.0" }] }],
    [own.queryKey, { items: [ofServer, snapshot, { ...ofServer, id: "s4", name: "elsewhere", region: "ams" }, shadowed] }],
  ]);
  await choose(/poplar-3.0/, /bert-ready/);
  expect(change).toHaveBeenLastCalledWith({ image: "bert-ready" });
  fireEvent.mouseDown(screen.getByRole("button", { name: /poplar-3.0/ }));
  const offered = await screen.findAllByRole("option");
  expect(offered.map((each) => each.textContent).join()).not.toMatch(/before-tuning|elsewhere/);
  expect(screen.getByText("Your snapshots")).toBeTruthy();
  fireEvent.mouseUp(offered.at(-1) as HTMLElement);
  expect(change).toHaveBeenLastCalledWith({ image: "s5" });
});
