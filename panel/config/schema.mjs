// Writes src/api/schema.d.ts from docs/openapi.json, with the digest of what it was made from (src/test/schema.test.ts).
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import openapi, { astToString } from "openapi-typescript";

// The panel has one handler of errors, and reads no header but Request-Id: types of the rest would be 1.5 MB.
function slim(node) {
  if (Array.isArray(node)) return node.map(slim);
  if (node === null || typeof node !== "object") return node;
  return Object.fromEntries(
    Object.entries(node)
      .filter(([key, value]) => !isProse(key, value) && !/^[345]\d\d$/.test(key) && !(key === "headers" && !Array.isArray(value)))
      .map(([key, value]) => [key, slim(value)]),
  );
}

function isProse(key, value) {
  return ["description", "summary", "title"].includes(key) ? typeof value === "string" : ["example", "examples"].includes(key);
}

const source = readFileSync(new URL("../../docs/openapi.json", import.meta.url));
const digest = createHash("sha256").update(source).digest("hex");
const text = astToString(await openapi(slim(JSON.parse(source.toString())), { defaultNonNullable: false }));
const header = `// Generated from docs/openapi.json by \`npm run schema\`; sha256 ${digest}\n\n`;
writeFileSync(new URL("../src/api/schema.d.ts", import.meta.url), header + text);
