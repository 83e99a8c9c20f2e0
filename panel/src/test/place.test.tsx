import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen, waitFor } from "@testing-library/react";
import { MemoryRouter, Route, Routes, useLocation } from "react-router";
import { expect, test } from "vitest";
import { whatIs } from "../api/operator";
import { projects, whoami } from "../api/session";
import { Moved } from "../app/Moved";
import { pageOf, projectOf, within } from "../app/place";
import { Project, useChoice } from "../app/Project";
import { To } from "../components/To";
import { Localised } from "../i18n";

const ID = "0199f2a4-6c1e-7c55-8f0e-0a8a3d1f2b11";
const project = (slug: string) => ({ id: slug, slug, name: slug });

function At() {
  const { pathname, search } = useLocation();
  const { slug, unseen } = useChoice();
  return <output>{`${pathname}${search} ${slug}/${unseen ?? ""}`}<To href="/clusters">Clusters</To><To href={`/clusters/${ID}`}>One</To><To href="/operator/hosts">Hosts</To></output>;
}

async function at(address: string) {
  localStorage.clear();
  sessionStorage.clear();
  sessionStorage.setItem("project", "research");
  const cache = new QueryClient({ defaultOptions: { queries: { staleTime: Infinity } } });
  cache.setQueryData(whoami.queryKey, { token: {}, project: null, scopes: ["project:read", "platform:read"] } as never);
  cache.setQueryData(projects.queryKey, { items: [project("demo"), project("research")] } as never);
  cache.setQueryData(whatIs(ID).queryKey, { items: [{ kind: "cluster", id: ID, project: "demo" }] } as never);
  const pages = <Routes><Route path="p/:project/*" element={<At />} /><Route path="operator/*" element={<At />} /><Route path="*" element={<Moved />} /></Routes>;
  render(<QueryClientProvider client={cache}><Localised><MemoryRouter initialEntries={[address]}><Project>{pages}</Project></MemoryRouter></Localised></QueryClientProvider>);
  return (await screen.findByText(/^\//)).firstChild?.textContent;
}

const target = (name: string) => screen.getByRole("link", { name }).getAttribute("href");

test("an address names its project, and pages of the platform have none", () => {
  expect([within("demo", "/"), within("demo", "/clusters"), within("demo", "/operator/hosts"), within("", "/billing")]).toEqual(["/p/demo", "/p/demo/clusters", "/operator/hosts", "/billing"]);
  expect([pageOf("/p/demo"), pageOf("/p/demo/clusters"), pageOf("/operator/hosts")]).toEqual(["/", "/clusters", "/operator/hosts"]);
  expect([projectOf("/p/demo/clusters"), projectOf("/projects")]).toEqual(["demo", undefined]);
});

test("links lead to pages of the project that is looked at", async () => {
  expect(await at("/p/demo/volumes")).toBe("/p/demo/volumes demo/");
  expect([target("Clusters"), target("Hosts")]).toEqual(["/p/demo/clusters", "/operator/hosts"]);
  await waitFor(() => expect(sessionStorage.getItem("project")).toBe("demo"));
});

test("a project that is not one's own is not exchanged for another", async () => {
  expect(await at("/p/secret/volumes")).toBe("/p/secret/volumes /secret");
});

test("an address without a project leads to the object's, else to the project that was looked at last", async () => {
  expect(await at(`/clusters/${ID}?tab=jobs`)).toBe(`/p/demo/clusters/${ID}?tab=jobs demo/`);
});

test("a page without an object stays in the project", async () => {
  expect(await at("/events?type=cluster.active")).toBe("/p/research/events?type=cluster.active research/");
});

test("what operators see of all projects is found when its link is followed", async () => {
  await at("/operator/events");
  expect([target("One"), target("Clusters")]).toEqual([`/clusters/${ID}`, "/p/research/clusters"]);
});
