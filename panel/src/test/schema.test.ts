// @vitest-environment node
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

test("the types of the API are those of docs/openapi.json: otherwise run `npm run schema`", () => {
  const digest = createHash("sha256").update(readFileSync("../docs/openapi.json")).digest("hex");
  expect(readFileSync("src/api/schema.d.ts", "utf8").split("\n")[0]).toContain(digest);
});
