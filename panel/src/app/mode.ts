import { applyMode, Mode } from "@cloudscape-design/global-styles";
import { useState } from "react";

const stored = () => localStorage.getItem("mode") ?? "";

function preferred(): Mode {
  if (stored()) return stored() === "dark" ? Mode.Dark : Mode.Light;
  return globalThis.matchMedia?.("(prefers-color-scheme: dark)").matches ? Mode.Dark : Mode.Light;
}

export const applyPreferredMode = () => applyMode(preferred());

export function useMode(): [Mode, () => void] {
  const [mode, setMode] = useState<Mode>(preferred);
  const toggle = () => {
    const next = mode === Mode.Dark ? Mode.Light : Mode.Dark;
    applyMode(next);
    localStorage.setItem("mode", next === Mode.Dark ? "dark" : "light");
    setMode(next);
  };
  return [mode, toggle];
}
