// Writes src/api/schema.d.ts, the types of the API, from docs/openapi.json. Only compilers and editors read them.
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

const { components, ...document } = JSON.parse(readFileSync(new URL("../../docs/openapi.json", import.meta.url), "utf8"));
components.responses = Object.fromEntries(
  Object.entries(components.responses).filter(([, { content }]) => !content?.["application/problem+json"]),
);
const text = astToString(await openapi(slim({ components, ...document }), { defaultNonNullable: false }));
writeFileSync(new URL("../src/api/schema.d.ts", import.meta.url), text);
