import { generateThemeStylesheet } from "@cloudscape-design/components/theming";

// Evaluated while the panel is built, never in the browser (bundle.ts).
export const css = generateThemeStylesheet({
  theme: {
    tokens: {
      colorBackgroundButtonPrimaryDefault: { light: "#5b2be0", dark: "#a78bfa" },
      colorBackgroundButtonPrimaryHover: { light: "#4a20bd", dark: "#c4b5fd" },
      colorBackgroundButtonPrimaryActive: { light: "#3b1a97", dark: "#ddd6fe" },
      colorBorderButtonNormalDefault: { light: "#5b2be0", dark: "#a78bfa" },
      colorTextButtonNormalDefault: { light: "#5b2be0", dark: "#a78bfa" },
      colorTextLinkDefault: { light: "#5b2be0", dark: "#b9a3ff" },
      colorTextLinkHover: { light: "#3b1a97", dark: "#ddd6fe" },
      colorTextAccent: { light: "#5b2be0", dark: "#b9a3ff" },
    },
  },
});
