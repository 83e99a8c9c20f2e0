import { readdirSync, readFileSync } from "node:fs";
import type { Plugin } from "vite";

const CLOUDSCAPE = "node_modules/@cloudscape-design";
const CLASS = /awsui_[a-zA-Z][\w-]*_[a-z\d]{5}_[a-z\d]{5}_\d+/g;
const PROPERTY = /--[a-z][a-z\d-]*-[a-z\d]{6}(?![\w-])/g;

/** Names of Cloudscape's classes and custom properties are long, and there are thousands: with short ones every page is smaller by a
 *  fifteenth. They are numbered in the order of its style sheets, so that what a file becomes depends on the version of Cloudscape
 *  only. `also`: a style sheet of the panel's own that sets its properties. */
export function shorter(also: string): Plugin {
  const names = new Map<string, string>();
  const shorten = (code: string) => code.replace(CLASS, (name) => names.get(name) ?? name).replace(PROPERTY, (name) => names.get(name) ?? name);
  return {
    name: "panel:shorter",
    apply: "build",
    enforce: "pre",
    buildStart() {
      const files = ["components", "global-styles"].flatMap((folder) =>
        readdirSync(`${CLOUDSCAPE}/${folder}`, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".css")).sort().map((name) => `${folder}/${name}`));
      for (const file of files) {
        const css = readFileSync(`${CLOUDSCAPE}/${file}`, "utf8");
        for (const [prefix, known] of [["c", CLASS], ["--p", PROPERTY]] as const) {
          for (const name of css.match(known) ?? []) if (!names.has(name)) names.set(name, prefix + names.size.toString(36));
        }
      }
      if (names.size < 3000) throw new Error("Cloudscape's styles are written differently than expected");
    },
    transform: (code, id) => {
      const path = id.split("?")[0] ?? "";
      return path === `\0${also}` || /\/@cloudscape-design\/.*\.(js|css)$/.test(path) ? { code: shorten(code), map: null } : undefined;
    },
  };
}
