import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { fireEvent, render, screen, waitFor, within } from "@testing-library/react";
import { MemoryRouter, Route, Routes } from "react-router";
import { afterEach, expect, test, vi } from "vitest";
import { projects, whoami } from "../api/session";
import { Flashes } from "../app/Flashes";
import { Project } from "../app/Project";
import { Localised } from "../i18n";
import { ProjectPage } from "../pages/operator/ProjectPage";
import { type } from "./shown";

const quota = (region: string, machine_type: string, limit: number) => ({ region, machine_type, limit, used: 1, unit: "machine" });
const QUOTAS = [quota("ams", "m2000", 4), quota("lux", "bow-2000", 8), quota("lux", "volume-gib", 500)];
const put: { body: unknown; version: string | null }[] = [];

function answer(url: URL) {
  if (url.pathname.endsWith("/quotas")) {
    const region = url.searchParams.get("region");
    return Response.json({ items: QUOTAS.filter((each) => !region || each.region === region), next_cursor: null }, { headers: { ETag: `"7-${region ?? "all"}"` } });
  }
  const project = { id: "p", slug: "nlp", number: 7, name: "Language", currency: "EUR", created_at: "2026-05-04T09:29:58Z" };
  return Response.json(url.pathname.endsWith("/regions") ? { items: [], next_cursor: null } : project);
}

async function show(address: string) {
  put.length = 0;
  vi.stubGlobal("fetch", async (request: Request) => {
    if (request.method === "PUT") put.push({ body: await request.json(), version: request.headers.get("If-Match") });
    return answer(new URL(request.url));
  });
  const cache = new QueryClient({ defaultOptions: { queries: { staleTime: Infinity } } });
  cache.setQueryData(whoami.queryKey, { token: {}, project: null, scopes: ["platform:read", "platform:write"] } as never);
  cache.setQueryData(projects.queryKey, { items: [] } as never);
  const pages = <Routes><Route path="/operator/projects/:slug" element={<ProjectPage />} /></Routes>;
  render(<QueryClientProvider client={cache}><Localised><MemoryRouter initialEntries={[address]}><Project><Flashes>{pages}</Flashes></Project></MemoryRouter></Localised></QueryClientProvider>);
  await screen.findByRole("button", { name: "Set a limit: bow-2000, lux" });
}

afterEach(() => vi.unstubAllGlobals());

test("a limit that is set in a filtered list leaves those that are not shown as they are", async () => {
  await show("/operator/projects/nlp?machine_type=bow-2000&region=lux");
  await waitFor(() => expect(screen.queryByText("ams")).toBeNull());
  fireEvent.click(await screen.findByRole("button", { name: "Set a limit: bow-2000, lux" }));
  const dialog = within(await screen.findByRole("dialog"));
  type("New limit, in machines", "16");
  fireEvent.click(dialog.getByRole("button", { name: "Set a limit" }));
  await waitFor(() => expect(put).toHaveLength(1));
  expect(put[0]?.body).toEqual({
    items: [
      { region: "ams", machine_type: "m2000", limit: 4 },
      { region: "lux", machine_type: "volume-gib", limit: 500 },
      { region: "lux", machine_type: "bow-2000", limit: 16 },
    ],
  });
  expect(put[0]?.version).toBe('"7-all"');
});
