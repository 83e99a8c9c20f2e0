import { screen } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import type { Schemas } from "../api/client";
import { Invited } from "../pages/members/Invited";
import { shown } from "./shown";

const made = { id: "i1", email: "ann@example.com", role: "viewer", state: "open" };

afterEach(() => vi.unstubAllGlobals());

test.each([
  ["the link was sent to the person, and to whom", { emailed: true, url: null }, /sent by e-mail to ann@example\.com/],
  ["the link, where nobody sends it", { emailed: false, url: "https://cloud.example/invitation#secret=ipi_7" }, /#secret=ipi_7/],
])("whoever invites sees %s", async (_, link, text) => {
  await shown(<Invited made={{ ...made, ...link } as Schemas["NewInvitation"]} onClose={vi.fn()} />, []);
  expect(await screen.findByText(text)).toBeTruthy();
  expect(screen.queryAllByText(/#secret=/)).toHaveLength(link.emailed ? 0 : 1);
});
