import { readFileSync } from "node:fs";
import { fireEvent, render, screen } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import { ApiError } from "../api/client";
import { ClusterState } from "../components/ClusterState";
import { Failure } from "../components/Failure";
import { MomentInput } from "../components/MomentInput";
import { InZone, Localised, useFormat, useZone } from "../i18n";
import { problems } from "../i18n/de/problems";
import { formats } from "../i18n/format";
import { faultOf, sentenceOf } from "../i18n/problems";

test("times name their zone, also when the clocks are changed", () => {
  const f = formats("en", "Europe/Berlin");
  expect([f.moment("2026-01-01T12:00:00Z"), f.moment("2026-07-01T12:00:00Z")]).toEqual(["1 Jan 2026, 13:00 CET", "1 Jul 2026, 14:00 CEST"]);
  expect(formats("de", "UTC").moment("2026-07-01T12:00:00Z")).toBe("01.07.2026, 12:00 UTC");
  for (const iso of ["2026-01-01T12:00:00.000Z", "2026-03-29T00:59:00.000Z", "2026-03-29T01:00:00.000Z", "2026-10-25T03:30:00.000Z"]) {
    expect(f.instant(f.local(iso))).toBe(iso);
  }
  expect(f.instant("T10:00")).toBeNull();
});

test("a time is entered in the zone that stands beside it, and a page of UTC days has no other", async () => {
  localStorage.setItem("time-zone", "Asia/Tokyo");
  const change = vi.fn();
  const At = () => <output>{useFormat().moment("2026-05-04T00:00:00Z")}</output>;
  const Choose = () => <button onClick={() => useZoneOf.choose("UTC")}>{useZoneOf.keep(useZone().chooseZone)}</button>;
  const useZoneOf = { choose: (_: string) => {}, keep(choose: (zone: string) => void) { this.choose = choose; return "Show UTC"; } };
  render(
    <Localised>
      <MomentInput label="Ends" value="2026-05-04T00:00:00.000Z" onChange={change} />
      <At /><InZone zone="UTC"><At /></InZone><Choose />
    </Localised>,
  );
  expect(await screen.findByText("Asia/Tokyo")).toBeTruthy();
  expect(screen.getByLabelText<HTMLInputElement>("Ends: time").value).toBe("09:00");
  fireEvent.change(screen.getByLabelText("Ends: time"), { target: { value: "10:00" } });
  expect(change).toHaveBeenLastCalledWith("2026-05-04T01:00:00.000Z");
  expect(screen.getAllByText(/^4 May 2026/).map((each) => each.textContent)).toEqual(["4 May 2026, 09:00 GMT+9", "4 May 2026, 00:00 UTC"]);
  fireEvent.click(screen.getByText("Show UTC"));
  expect(screen.getAllByText(/^4 May 2026/).map((each) => each.textContent)).toEqual(["4 May 2026, 00:00 UTC", "4 May 2026, 00:00 UTC"]);
  localStorage.removeItem("time-zone");
});

test("the codes that have a German sentence are those of the API", () => {
  const documented = readFileSync("../docs/errors.md", "utf8");
  expect(Object.keys(problems.codes).filter((code) => !documented.includes(`\`${code}\``))).toEqual([]);
});

test("German sentences have the numbers that came with an error; what they leave out follows", async () => {
  const members = { why_not: { reason: "quota", numbers: { wanted: 16, limit: 24, used: 12 } } };
  const over = new ApiError(409, "quota_exceeded", "The quota of lux has 12 machines left.", "r1", [], members);
  expect(sentenceOf(problems, over).text).toBe("Das Kontingent reicht nicht: 16 Maschinen nötig, 12 von 24 belegt. Beantragen Sie mehr.");
  const least = { pointer: "/port", code: "greater_than_equal", detail: "Input should be greater than or equal to 1024." };
  expect(faultOf(problems, least)).toBe("Der Wert muss mindestens 1024 sein.");
  expect(faultOf(problems, { ...least, code: "unheard_of" })).toBe(least.detail);
  localStorage.setItem("language", "de");
  render(<Localised><Failure error={over} /></Localised>);
  expect(await screen.findByText(/16 Maschinen nötig/)).toBeTruthy();
  expect(screen.getByText("The quota of lux has 12 machines left.").lang).toBe("en");
  localStorage.removeItem("language");
});

test("a resize that waits for room has no progress and no end", async () => {
  const operation = { done: false, progress: 0, expected_at: "2999-01-01T00:00:00Z" };
  render(<Localised><ClusterState cluster={{ state: "resizing", operation, waiting: { place: 1 } } as never} /></Localised>);
  expect((await screen.findByText(/Resizing/)).textContent).toBe("Resizing, waits for capacity");
});
