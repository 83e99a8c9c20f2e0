import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { runnerImport, type Plugin } from "vite";

const EMBEDDED_FONT = /url\((["']?)data:font\/woff2;base64,([A-Za-z0-9+/=]+)\1\)/g;
export const THEME = "virtual:theme.css";
const NO_LAYOUT = "\0virtual:no-layout";

/** Cloudscape's styles embed their fonts. As files they need no `font-src data:`, and only the faces in use are loaded. */
export function fontFiles(): Plugin {
  return {
    name: "panel:font-files",
    enforce: "post",
    generateBundle(_, bundle) {
      for (const item of Object.values(bundle)) {
        if (item.type !== "asset" || !item.fileName.endsWith(".css")) continue;
        item.source = String(item.source).replace(EMBEDDED_FONT, (_match, _quote, encoded: string) => {
          const source = Buffer.from(encoded, "base64");
          const name = `font-${createHash("sha256").update(source).digest("hex").slice(0, 10)}.woff2`;
          this.emitFile({ type: "asset", fileName: `assets/${name}`, source });
          return `url(./${name})`;
        });
      }
    },
  };
}

/** The licences of everything in the bundle, which Apache-2.0 and MIT ask for. */
export function notices(): Plugin {
  return {
    name: "panel:notices",
    apply: "build",
    generateBundle() {
      const found = new Map<string, string>();
      for (const id of this.getModuleIds()) {
        const root = /^\0?(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(id)?.[1];
        if (root && !found.has(root) && existsSync(join(root, "package.json"))) found.set(root, notice(root));
      }
      const source = [...found.values()].sort().join(`\n\n${"-".repeat(80)}\n\n`);
      this.emitFile({ type: "asset", fileName: "third-party.txt", source });
    },
  };
}

function notice(root: string): string {
  const about = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as Record<string, string>;
  const texts = readdirSync(root)
    .filter((name) => /^(licen[cs]e|notice|third-party)/i.test(name))
    .map((name) => readFileSync(join(root, name), "utf8").trim());
  return [`${about.name} ${about.version} (${about.license})`, ...texts].join("\n\n");
}

/** Each text asset also as .br and .gz, so that the server never compresses. The files are read back from the disk:
 *  in `generateBundle` Vite has not yet written its lists of preloads. */
export function precompress(): Plugin {
  return {
    name: "panel:precompress",
    apply: "build",
    writeBundle(options, bundle) {
      for (const name of Object.keys(bundle).filter((each) => /\.(js|css|svg|json|txt)$/.test(each))) {
        const path = join(options.dir ?? "", name);
        const raw = readFileSync(path);
        if (raw.length < 1024) continue;
        const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: raw.length };
        writeFileSync(`${path}.gz`, gzipSync(raw, { level: 9 }));
        writeFileSync(`${path}.br`, brotliCompressSync(raw, { params }));
      }
    },
  };
}

/** The theme as a style sheet made at build time: at run time Cloudscape would insert a <style>, which the CSP forbids. */
export function theme(): Plugin {
  return {
    name: "panel:theme",
    resolveId: (id) => (id === THEME ? `\0${THEME}` : undefined),
    async load(id) {
      if (id !== `\0${THEME}`) return undefined;
      const { module } = await runnerImport<{ css: string }>("./config/theme.ts", {
        configFile: false,
        environments: { inline: { resolve: { noExternal: [/@cloudscape-design/] } } },
      });
      return module.css;
    },
  };
}

/** Cloudscape draws its icons by name, so a bundler keeps all of them. Those that neither its components nor these pages
 *  name are left out: every page loads this file. */
export function icons(): Plugin {
  return {
    name: "panel:icons",
    apply: "build",
    transform: (code, id) => {
      const components = /^(.*\/@cloudscape-design\/components)\/icon\/generated\/icons\.js$/.exec(id)?.[1];
      if (!components) return undefined;
      const named = namesIn([...scripts(components, /\/(icon\/generated|test-utils|api-docs)\/|\.d\.ts$/), ...scripts("src", /\/test\//)]);
      const parts = code.split(/^(?= {4}"?[a-z-\d]+"?: React)/m);
      const kept = parts.filter((part, index) => {
        const name = /^ {4}"?([a-z-\d]+)/.exec(part)?.[1];
        return !name || index === parts.length - 1 || named.has(name); // the last one has the end of the file
      });
      if (kept.length < 20) throw new Error("Cloudscape's icons are written differently than expected");
      return { code: kept.join(""), map: null };
    },
  };
}

function scripts(folder: string, except: RegExp): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => `${folder}/${name}`)
    .filter((path) => /\.(js|tsx?)$/.test(path) && !except.test(path));
}

/** Words that stand in quotes in these files. */
function namesIn(paths: string[]): Set<string> {
  return new Set(paths.flatMap((path) => Array.from(readFileSync(path, "utf8").matchAll(/["'`]([a-z\d-]+)["'`]/g), (found) => found[1] ?? "")));
}

/** Cloudscape's layout has three designs and chooses when it runs. Its components are built for the visual refresh, and
 *  nobody sets the flag for the toolbar: the other two, with what only they import, would be a fifth of every page.
 *  At phone width its navigation has an attribute that such an element must not have. */
export function layout(): Plugin {
  return {
    name: "panel:layout",
    enforce: "pre",
    resolveId: (id, importer = "") =>
      /\/app-layout\/internal\.js$/.test(importer) && ["./classic", "./visual-refresh-toolbar"].includes(id) ? NO_LAYOUT : undefined,
    load: (id) => (id === NO_LAYOUT ? "export default () => null;" : undefined),
    transform: (code, id) =>
      /\/app-layout\/visual-refresh\/mobile-toolbar\.js$/.test(id) ? code.replace('"aria-orientation": "horizontal", ', "") : undefined,
  };
}
