// @vitest-environment node
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { EVENT_TYPES, TYPES_OF } from "../api/live";
import { de } from "../i18n/de";
import { en } from "../i18n/en";

test("the types of the API are those of docs/openapi.json: otherwise run `npm run schema`", () => {
  const digest = createHash("sha256").update(readFileSync("../docs/openapi.json")).digest("hex");
  expect(readFileSync("src/api/schema.d.ts", "utf8").split("\n")[0]).toContain(digest);
});

test("every type of event of projects, accounts and operators is listened for", () => {
  const { paths } = JSON.parse(readFileSync("../docs/openapi.json", "utf8"));
  const lists = ["/v1/projects/{project}/events", "/v1/billing/accounts/{account}/events", "/v1/operator/events"];
  const types = lists.flatMap((path): string[] => paths[path].get.parameters.find((each: { name: string }) => each.name === "type").schema.items.enum);
  expect([...EVENT_TYPES].sort()).toEqual([...new Set([...types, "gap"])].sort());
});

test("every type of event of a project has a name for people", () => {
  const unnamed = [en, de].flatMap(({ events }) => Object.values(TYPES_OF).flat().filter((type) => {
    const [noun = "", verb = ""] = type.split(".");
    return !(events.nouns[noun] && events.verbs[verb]);
  }));
  expect(unnamed).toEqual([]);
});
