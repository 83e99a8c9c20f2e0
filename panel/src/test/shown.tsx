import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { fireEvent, render, screen, waitFor } from "@testing-library/react";
import type { ReactNode } from "react";
import { MemoryRouter, useLocation } from "react-router";
import { vi } from "vitest";
import { projectPrices } from "../api/catalogue";
import { regions } from "../api/queries";
import { projects, whoami } from "../api/session";
import { Flashes } from "../app/Flashes";
import { Project } from "../app/Project";
import { Localised } from "../i18n";

export type Known = [readonly unknown[], unknown];

/** A price in force. */
export const price = (sku: string, region: string, amount: string) => ({
  sku, region, unit_price: { amount, currency: "EUR" }, valid_from: "2020-01-01T00:00:00Z", valid_to: null,
});

/** The requests that changed something. */
export const sent: { method: string; path: string; body: unknown }[] = [];

/** What a signed-in person sees, with prices and regions read already; requests are kept and answered. */
export async function shown(part: ReactNode, prices: unknown[], more: Known[] = []) {
  sent.length = 0;
  vi.stubGlobal("fetch", async (request: Request) => {
    if (request.method === "GET") return Response.json({ items: prices }); // prices, which are read again after a change
    const text = await request.text();
    sent.push({ method: request.method, path: new URL(request.url).pathname, body: text ? JSON.parse(text) : null });
    return Response.json({}, { status: 202 });
  });
  const cache = new QueryClient({ defaultOptions: { queries: { staleTime: Infinity } } });
  const known: Known[] = [
    [whoami.queryKey, { token: {}, project: { slug: "demo" }, scopes: ["cluster:write"] }],
    [projects.queryKey, { items: [] }],
    [projectPrices("demo").queryKey, { items: prices }],
    [regions.queryKey, { items: [{ slug: "lux", name: "Luxembourg" }, { slug: "ams", name: "Amsterdam" }] }],
    ...more,
  ];
  for (const [key, value] of known) cache.setQueryData(key, value);
  render(<QueryClientProvider client={cache}><Localised><MemoryRouter><Project><Flashes>{part}<Address /></Flashes></Project></MemoryRouter></Localised></QueryClientProvider>);
  await waitFor(() => screen.getByTestId("address"));
}

const Address = () => <output data-testid="address">{useLocation().pathname + useLocation().search}</output>;

/** Opens a list and chooses from it. */
export async function choose(list: RegExp, option: RegExp) {
  fireEvent.mouseDown(await screen.findByRole("button", { name: list }));
  fireEvent.mouseUp(await screen.findByRole("option", { name: option }));
}

export const type = (label: string, value: string) => fireEvent.change(screen.getByLabelText(label), { target: { value } });
export const button = (name: string) => screen.getByRole<HTMLButtonElement>("button", { name });

/** Whether a button cannot be pressed now; it has the focus and says why. */
export const off = (name: string) => button(name).getAttribute("aria-disabled") === "true";
