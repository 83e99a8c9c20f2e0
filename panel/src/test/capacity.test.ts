import { expect, test } from "vitest";
import { priceAt, reservedSku, times, type Flavor } from "../api/catalogue";
import { cancellation } from "../api/reservations";
import { sorted } from "../pages/catalogue/sorting";
import { printable } from "../pages/cluster/printable";
import { asCommand, asPython, EMPTY, requestOf } from "../pages/create/draft";
import { first, fitting, pricedOf } from "../pages/reservations/draft";

const price = (sku: string, amount: string, valid_from: string, valid_to: string | null, currency = "EUR") =>
  ({ sku, region: "here", unit_price: { amount, currency }, valid_from, valid_to }) as never;

test("the price is the one in force in the account's currency, and a flavor without a reserved price cannot be reserved", () => {
  const prices = [
    price("ipu-m2000", "0.05", "2020-01-01T00:00:00Z", "2026-05-01T00:00:00Z"),
    price("ipu-m2000", "0.06", "2026-05-01T00:00:00Z", null),
    price("ipu-m2000", "0.07", "2020-01-01T00:00:00Z", null, "USD"),
    price("ipu-m2000-reserved", "0.04", "2027-01-01T00:00:00Z", null),
  ];
  const at = (sku: string, iso: string, currency = "EUR") => priceAt(prices, { sku, region: "here", currency }, Date.parse(iso))?.unit_price.amount;
  expect(at("ipu-m2000", "2026-04-30T23:59:59Z")).toBe("0.05");
  expect(at("ipu-m2000", "2026-05-01T00:00:00Z")).toBe("0.06");
  expect(at("ipu-m2000", "2026-05-01T00:00:00Z", "USD")).toBe("0.07");
  expect(at(reservedSku("ipu-m2000"), "2026-05-01T00:00:00Z")).toBeUndefined();
  expect(times({ amount: "0.0625", currency: "EUR" }, 240)).toEqual({ amount: "15", currency: "EUR" });
});

test("flavors are sorted by number, and those without a price come last", () => {
  const flavors = [["pod64", 64], ["pod4", 4], ["pod16", 16]].map(([name, ipus]) => ({ name, ipus })) as unknown as Flavor[];
  const costs = (flavor: Flavor) => ({ pod64: 9, pod16: 3 })[flavor.name as "pod64" | "pod16"];
  const names = (...rest: [Parameters<typeof sorted>[1], boolean]) => sorted(flavors, ...rest, costs).map((each) => each.name);
  expect(names("name", false)).toEqual(["pod4", "pod16", "pod64"]);
  expect(names("ipus", true)).toEqual(["pod64", "pod16", "pod4"]);
  expect(names("price", false)).toEqual(["pod16", "pod64", "pod4"]);
  expect(names("price", true)).toEqual(["pod64", "pod16", "pod4"]);
});

test("a reservation can be cancelled until its instant, while it has not begun", () => {
  const until = "2026-05-10T08:00:00Z";
  const of = (state: "scheduled" | "active", cancel_until: string | null, now: string) => cancellation({ state, cancel_until }, Date.parse(now));
  expect(of("scheduled", until, "2026-05-10T08:00:00Z")).toBe("possible");
  expect(of("scheduled", until, "2026-05-10T08:00:01Z")).toBe("late");
  expect(of("scheduled", null, "2026-05-10T08:00:00Z")).toBe("never");
  expect(of("active", until, "2026-05-09T08:00:00Z")).toBe("active");
});

test("a reservation that is begun here can still be cancelled, and is priced once nothing is missing", () => {
  const now = new Date(2026, 4, 4, 13, 17, 23);
  const draft = first(now, "here", "pod16");
  expect(Date.parse(draft.starts) - now.getTime()).toBeGreaterThan(24 * 3_600_000);
  expect(new Date(draft.starts).getMinutes() + new Date(draft.starts).getSeconds()).toBe(0);
  expect(pricedOf(draft)).toMatchObject({ flavor: "pod16", count: 1, starts_at: draft.starts });
  expect(pricedOf({ ...draft, flavor: "" })).toBeNull();
  expect(pricedOf({ ...draft, count: "0" })).toBeNull();
  expect(pricedOf({ ...draft, ends: "" })).toBeNull();
});

test("what would fit is bounded by room and quota", () => {
  const found = (fits: number, left: number) => ({ machines: 12, quota: { limit: left, used: 0 }, capacity: { fits } }) as never;
  expect(fitting(found(2, 100), 3)).toBe(2);
  expect(fitting(found(9, 7), 3)).toBe(1); // of 4 machines each
  expect(fitting(found(0, 100), 3)).toBe(0);
  expect(fitting(found(9, 100), 3)).toBe(3);
});

test("a cluster is created from a reservation in each form of the request", () => {
  const draft = { ...EMPTY, name: "bert", reservation: "0199f2a4" };
  expect(requestOf(draft)).toMatchObject({ reservation: "0199f2a4" });
  expect(requestOf({ ...draft, reservation: "" })).not.toHaveProperty("reservation");
  expect(asCommand(draft)).toContain("--reservation 0199f2a4");
  expect(asPython(draft, "demo", "https://x")).toContain('reservation="0199f2a4"');
});

test("a console is shown without colours, and what else would control a terminal is written out", () => {
  expect(printable("\u001b[32m  OK  \u001b[0m started\r\nbell\u0007 \u001b\ttab\n")).toBe("  OK   started\nbell\\x07 \\x1b\ttab\n");
});
