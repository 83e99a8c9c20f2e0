import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { fireEvent, render, screen, waitFor } from "@testing-library/react";
import type { ReactNode } from "react";
import { MemoryRouter, useLocation } from "react-router";
import { afterEach, expect, test, vi } from "vitest";
import { projects, whoami } from "../api/session";
import { Flashes } from "../app/Flashes";
import { Project } from "../app/Project";
import { Localised } from "../i18n";
import { Budgets } from "../pages/billing/Budgets";
import { ScheduleList } from "../pages/billing/exports/ScheduleList";
import { PriceBook } from "../pages/operator/PriceBook";
import { Quotas } from "../pages/Quotas";
import { QuotaRequests } from "../pages/quotas/QuotaRequests";
import { SshKeys } from "../pages/SshKeys";

const asked: URL[] = [];
const key = (name: string) => ({ id: name, name, type: "ssh-ed25519", public_key: "", fingerprint: "SHA256:x", created_at: "2026-05-04T09:29:58Z" });

async function show(part: ReactNode, address: string, scopes: string[] = []) {
  asked.length = 0;
  vi.stubGlobal("fetch", async (request: Request) => {
    const url = new URL(request.url);
    asked.push(url);
    if (url.pathname.endsWith("/ssh-authority")) return Response.json({ status: 404, code: "not_found" }, { status: 404 }); // there is no cluster yet
    const found = url.pathname.endsWith("/ssh-keys") ? [key(url.searchParams.get("q") ?? "any")] : [];
    return Response.json({ items: found, next_cursor: url.searchParams.get("cursor") ? null : "following" });
  });
  const cache = new QueryClient({ defaultOptions: { queries: { staleTime: Infinity } } });
  cache.setQueryData(whoami.queryKey, { token: {}, project: { slug: "demo" }, scopes } as never);
  cache.setQueryData(projects.queryKey, { items: [] } as never);
  render(<QueryClientProvider client={cache}><Localised><MemoryRouter initialEntries={[address]}><Project><Flashes>{part}<Address /></Flashes></Project></MemoryRouter></Localised></QueryClientProvider>);
  await waitFor(() => screen.getByTestId("address"));
}

const Address = () => <output data-testid="address">{useLocation().search}</output>;
const queries = (list: string) => asked.filter((each) => each.pathname.endsWith(`/${list}`)).map((each) => Object.fromEntries(each.searchParams));
const last = (list: string) => Object.fromEntries(asked.filter((each) => each.pathname.endsWith(`/${list}`)).at(-1)?.searchParams ?? []);

afterEach(() => vi.unstubAllGlobals());

test("what is typed is looked for by the API, from the first page on, and stays in the address", async () => {
  await show(<SshKeys />, "/ssh-keys?order=-name");
  await screen.findByText("any");
  expect(last("ssh-keys")).toEqual({ order: "-name", limit: "50" });
  fireEvent.click(screen.getByRole("button", { name: "Next page" }));
  await waitFor(() => expect(last("ssh-keys")).toMatchObject({ cursor: "following" }));
  fireEvent.change(screen.getByLabelText("Find by name"), { target: { value: " desk " } });
  await screen.findByText("desk");
  expect(last("ssh-keys")).toEqual({ q: "desk", order: "-name", limit: "50" });
  expect(screen.getByTestId("address").textContent).toBe("?order=-name&q=desk");
});

test("an address says what is shown, and a value that no filter has is ignored", async () => {
  await show(<QuotaRequests />, "/quotas?state=declined&order=created_at");
  await screen.findByText("Nothing matches", { exact: false });
  expect(last("quota-requests")).toEqual({ state: "declined", order: "created_at", limit: "20" });
});

test("a value that no filter has is not sent", async () => {
  await show(<QuotaRequests />, "/quotas?state=lost&order=size");
  await waitFor(() => expect(last("quota-requests")).toEqual({ order: "-created_at", limit: "20" }));
});

test("budgets are found and ordered by the API", async () => {
  await show(<Budgets />, "/billing/budgets?q=may&order=-name");
  await screen.findByText("Nothing matches", { exact: false });
  expect(last("budgets")).toEqual({ q: "may", order: "-name" });
});

test("a list beside others has filters of its own in the address", async () => {
  await show(<ScheduleList />, "/billing/exports?dataset=invoice-detail&schedule-every=month");
  await screen.findByText("Nothing matches", { exact: false });
  expect(last("export-schedules")).toEqual({ every: "month", order: "-created_at" });
});

test("the price book is filtered and ordered by the API", async () => {
  await show(<PriceBook />, "/operator/prices?sku=ipu-m2000&contract=false&state=future&order=-valid_from", ["account:read"]);
  await screen.findByText("Nothing matches", { exact: false });
  expect(last("billing/prices")).toEqual({ sku: "ipu-m2000", contract: "false", state: "future", order: "-valid_from", limit: "50" });
  fireEvent.click(screen.getByRole("button", { name: "Next page" }));
  await waitFor(() => expect(last("billing/prices")).toMatchObject({ cursor: "following" }));
});

test("what no filter of the price book has is not sent", async () => {
  await show(<PriceBook />, "/operator/prices?contract=perhaps&state=later&order=source", ["account:read"]);
  await waitFor(() => expect(last("billing/prices")).toEqual({ order: "sku", limit: "50" }));
});

test("limits and requests beside them have filters of their own", async () => {
  await show(<Quotas />, "/quotas?limit-region=lux&limit-order=-used&state=open&order=created_at");
  await waitFor(() => expect(screen.getAllByText("Nothing matches", { exact: false })).toHaveLength(2));
  expect(queries("quotas")).toContainEqual({ region: "lux", order: "-used" });
  expect(last("quota-requests")).toEqual({ state: "open", order: "created_at", limit: "20" });
});
