// @vitest-environment node
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { EVENT_TYPES, TYPES_OF } from "../api/live";
import { de } from "../i18n/de";
import { en } from "../i18n/en";

test("every type of event of projects, accounts and operators is listened for", () => {
  const { components, paths } = JSON.parse(readFileSync("../docs/openapi.json", "utf8"));
  const lists = ["/v1/projects/{project}/events", "/v1/billing/accounts/{account}/events", "/v1/operator/events"];
  const types = lists.flatMap((path): string[] => 
    paths[path].get.parameters
      .map(({ $ref, ...own }: { $ref?: string }) => ($ref ? components.parameters[$ref.slice("#/components/parameters/".length)] : own))
      .find(({ name }: { name: string }) => name === "type").schema.items.enum);
  expect([...EVENT_TYPES].sort()).toEqual([...new Set(types)].sort());
});

test("every type of event of a project has a name for people", () => {
  const unnamed = [en, de].flatMap(({ events }) => Object.values(TYPES_OF).flat().filter((type) => {
    const [noun = "", verb = ""] = type.split(".");
    return !(events.nouns[noun] && events.verbs[verb]);
  }));
  expect(unnamed).toEqual([]);
});
