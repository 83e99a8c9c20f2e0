import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen } from "@testing-library/react";
import { MemoryRouter } from "react-router";
import { afterEach, expect, test, vi } from "vitest";
import { signOut } from "../api/session";
import { Localised } from "../i18n";
import { SignIn } from "../pages/SignIn";

const provider = { name: "sso", title: "Example Sign-On", sign_out_url: "https://sso.example.com/logout?client_id=ipucloud" };

afterEach(() => vi.unstubAllGlobals());

test.each([
  ["may sign out at the provider, too", provider, 1],
  ["is offered nothing where the provider has no such page", null, 0],
])("whoever has signed out %s", async (_, left, offers) => {
  vi.stubGlobal("fetch", async () => Response.json({ provider: left }));
  const state = await signOut();
  vi.stubGlobal("fetch", async () => Response.json({ items: [] }));
  render(
    <QueryClientProvider client={new QueryClient()}>
      <Localised><MemoryRouter initialEntries={[{ pathname: "/sign-in", state }]}><SignIn /></MemoryRouter></Localised>
    </QueryClientProvider>,
  );
  expect(await screen.findByLabelText("E-mail")).toBeTruthy();
  const links = screen.queryAllByRole<HTMLAnchorElement>("link", { name: "Sign out at Example Sign-On, too" });
  expect(links.map((link) => link.href)).toEqual(Array(offers).fill(provider.sign_out_url));
});
