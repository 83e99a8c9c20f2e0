import { defineConfig, mergeConfig } from "vitest/config";
import base from "./vite.config.ts";

export default mergeConfig(
  base,
  defineConfig({
    test: {
      environment: "jsdom",
      setupFiles: ["src/test/setup.ts"],
      css: false,
      testTimeout: 120_000, // a busy machine is no failure
      server: { deps: { inline: [/@cloudscape-design/] } }, // its ES modules import .css
    },
  }),
);
