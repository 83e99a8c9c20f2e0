import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { fireEvent, render, screen } from "@testing-library/react";
import { MemoryRouter } from "react-router";
import { expect, test, vi } from "vitest";
import type { ClusterSummary } from "../api/queries";
import { projects, whoami } from "../api/session";
import { Flashes } from "../app/Flashes";
import { Project } from "../app/Project";
import { ClusterActionModal, type ClusterAction } from "../components/ClusterActionModal";
import { Localised } from "../i18n";
import { off } from "./shown";

const euros = (amount: string) => ({ amount, currency: "EUR" });
const cluster = (name: string, minutes: number, cost: string, partitions: number) => ({
  id: name, name, state: "active", price_per_minute: euros("0.25"), partitions: Array.from({ length: partitions }, () => ({})),
  billing: { cost_per_minute: euros("0.25"), minutes, cost: euros(cost) },
}) as unknown as ClusterSummary;

async function show(action: ClusterAction, clusters: ClusterSummary[]) {
  const cache = new QueryClient({ defaultOptions: { queries: { staleTime: Infinity } } });
  cache.setQueryData(whoami.queryKey, { token: {}, project: { slug: "demo" }, scopes: ["cluster:write"] } as never);
  cache.setQueryData(projects.queryKey, { items: [] } as never);
  const dialog = <ClusterActionModal action={action} clusters={clusters} onClose={vi.fn()} />;
  render(<QueryClientProvider client={cache}><Localised><MemoryRouter><Project><Flashes>{dialog}</Flashes></Project></MemoryRouter></Localised></QueryClientProvider>);
  await screen.findByRole("dialog");
}

test("a suspend shows what it saves, what was billed so far and how many partitions there are", async () => {
  await show("suspend", [cluster("bert", 1200, "300", 2)]);
  for (const line of ["This saves €15.00 per hour.", "Billed so far: 1,200 minutes, €300.00.", "They have 2 partitions."]) {
    expect(await screen.findByText(line)).toBeTruthy();
  }
});

test("a delete of several adds up what it ends, and waits for its confirmation", async () => {
  await show("delete", [cluster("bert", 1200, "300", 1), cluster("gpt", 1, "0.25", 0)]);
  for (const line of ["This saves €30.00 per hour.", "Billed so far: 1,201 minutes, €300.25.", "It has 1 partition."]) {
    expect(await screen.findByText(line)).toBeTruthy();
  }
  expect(off("Delete")).toBe(true);
  fireEvent.change(screen.getByLabelText("Type delete to confirm"), { target: { value: "delete" } });
  expect(off("Delete")).toBe(false);
});
