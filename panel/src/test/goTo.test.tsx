import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { fireEvent, render, screen, waitFor } from "@testing-library/react";
import { MemoryRouter } from "react-router";
import { afterEach, expect, test, vi } from "vitest";
import { projects, whoami } from "../api/session";
import { GoTo } from "../app/GoTo";
import { Project } from "../app/Project";
import { Localised } from "../i18n";

const bert = { id: "1", name: "bert", state: "active", flavor: "m2000-pod4" };
const offered = () => screen.queryAllByRole("option").map((each) => each.textContent ?? "");

afterEach(() => vi.unstubAllGlobals());

test("while the service is being asked, no cluster of the text before is offered", async () => {
  vi.stubGlobal("fetch", async (request: Request) => {
    const text = new URL(request.url).searchParams.get("q");
    return text === "catal" ? await new Promise<Response>(() => undefined) : Response.json({ items: [bert], next_cursor: null });
  });
  const cache = new QueryClient({ defaultOptions: { queries: { staleTime: Infinity } } });
  cache.setQueryData(whoami.queryKey, { token: {}, project: { slug: "demo" }, scopes: [] } as never);
  cache.setQueryData(projects.queryKey, { items: [] } as never);
  render(<QueryClientProvider client={cache}><Localised><MemoryRouter><Project><GoTo onClose={() => undefined} /></Project></MemoryRouter></Localised></QueryClientProvider>);
  const input = await screen.findByPlaceholderText("Name of a cluster or page");
  fireEvent.focus(input);
  fireEvent.change(input, { target: { value: "ber" } });
  await waitFor(() => expect(offered().some((each) => each.startsWith("bert"))).toBe(true));
  expect(offered().findIndex((each) => each.startsWith("bert"))).toBe(offered().length - 1); // pages, which are known at once, come first
  fireEvent.change(input, { target: { value: "catal" } });
  await waitFor(() => expect(offered()).toEqual(["Catalogue"]));
});
