import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import { fontFiles, icons, layout, notices, precompress, THEME, theme } from "./config/bundle.ts";
import { shorter } from "./config/shorter.ts";

// For `vite dev` only: the API behind it, and a token for it where no browser session exists.
const api = process.env.IPUCLOUD_URL ?? "http://127.0.0.1:8000";
const headers = process.env.IPUCLOUD_TOKEN ? { Authorization: `Bearer ${process.env.IPUCLOUD_TOKEN}` } : undefined;

export default defineConfig({
  plugins: [react(), layout(), icons(), shorter(THEME), theme(), fontFiles(), notices(), precompress()],
  // Cloudscape's texts are parsed before they are published; what parses them would be in every page.
  resolve: { alias: { "@formatjs/icu-messageformat-parser": "@formatjs/icu-messageformat-parser/lib/no-parser.js" } },
  build: {
    outDir: process.env.IPUCLOUD_PANEL_OUT ?? "../src/ipucloud/panel/static",
    emptyOutDir: true,
    manifest: true, // what each page consists of, for the test of its size
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2022",
    chunkSizeWarningLimit: 900,
    rollupOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: "react", test: /node_modules\/(react|react-dom|react-router|scheduler|@tanstack|openapi-)/ },
            // One file compresses far better than dozens, and most pages have most of these components.
            { name: "common", minShareCount: 8, test: /node_modules\/@cloudscape-design/ },
          ],
        },
      },
    },
  },
  server: { proxy: { "/v1": { target: api, headers }, "/docs": api } },
});
