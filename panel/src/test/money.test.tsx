import { fireEvent, screen, waitFor } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import { api, body } from "../api/client";
import { spend } from "../api/billing";
import { formats } from "../i18n/format";
import { EditBudget } from "../pages/billing/EditBudget";
import { button, off, sent, shown, type } from "./shown";

const euros = (amount: string) => ({ amount, currency: "EUR" });

test("an amount is read in the language in which it is typed, or not at all", () => {
  const read = (language: string, text: string) => formats(language, "UTC").fromDecimal(text, 2);
  const cases = { "1,000": ["1000", null], "1.000": [null, "1000"], "1,5": [null, "1.5"], "1.5": ["1.5", null], "1,234.56": ["1234.56", null], "1.234,56": [null, "1234.56"],
    "12,34": [null, "12.34"], "1000": ["1000", "1000"], " 7 ": ["7", "7"], "1,00,000": [null, null], "1.234": [null, "1234"], "-5": [null, null], "1e3": [null, null], "": [null, null], ".5": [null, null] };
  expect(Object.keys(cases).map((text) => [text, [read("en", text), read("de", text)]])).toEqual(Object.entries(cases));
});

test("amounts have the digits of their currency", () => {
  const f = formats("en", "UTC");
  expect(["JPY", "EUR", "KWD"].map(f.minorDigits)).toEqual([0, 2, 3]);
  expect([f.fromDecimal("1,000", 0), f.fromDecimal("10.5", 0), f.money({ amount: "39", currency: "JPY" })]).toEqual(["1000", null, "JP¥39"]);
});

test("a budget says how its amount is read, and what saving it does at once", async () => {
  const month = { accrued: euros("900"), forecast: euros("1200") };
  await shown(<EditBudget onClose={vi.fn()} />, [], [[spend({ project: "demo" }).queryKey, month]]);
  const answered = fetch;
  vi.stubGlobal("fetch", (request: Request) => (request.method === "GET" ? Promise.resolve(Response.json(month)) : answered(request)));
  await screen.findByRole("dialog");
  fireEvent.change(screen.getByLabelText("Name"), { target: { value: "team" } });
  type("Amount per month (EUR)", "1.000");
  expect(await screen.findByText("Write it like 1,234.5, with at most 2 digits after the point.")).toBeTruthy();
  expect(off("Create")).toBe(true);
  type("Amount per month (EUR)", "1,000");
  expect(await screen.findByText("= €1,000.00")).toBeTruthy();
  expect(await screen.findByText("Already reached: 80% of cost so far (€900.00). Within a minute of saving, this is reported.")).toBeTruthy();
  fireEvent.click(button("Create"));
  await waitFor(() => expect(sent.map((each) => each.body)).toMatchObject([{ amount: euros("1000") }]));
});

test("a change without an answer is asked for again under the same key, and an answered one is new", async () => {
  const keys: (string | null)[] = [];
  const answers = [() => Promise.reject(new TypeError("connection lost")), () => Response.json({}, { status: 503 }), () => Response.json({ code: "idempotency_in_progress" }, { status: 409 }), () => Response.json({}, { status: 201 }), () => Response.json({}, { status: 201 })];
  vi.stubGlobal("fetch", async (request: Request) => {
    keys.push(request.headers.get("Idempotency-Key"));
    return answers[keys.length - 1]?.();
  });
  const run = (command: string) =>
    body(api.POST("/v1/projects/{project}/clusters/{cluster}/jobs", { params: { path: { project: "demo", cluster: "bert" }, header: { "Idempotency-Key": "" } }, body: { command: [command] } as never })).catch(() => null);
  for (const command of ["train", "train", "train", "train", "train"]) await run(command);
  expect(new Set(keys.slice(0, 4)).size).toBe(1);
  expect(keys[4]).not.toBe(keys[0]);
});
