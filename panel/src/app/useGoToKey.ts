import { useEffect, useRef } from "react";

/** Calls `open` on Ctrl+K, or ⌘K. */
export function useGoToKey(open: () => void) {
  const latest = useRef(open);
  useEffect(() => { latest.current = open; });
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
      event.preventDefault();
      latest.current();
    };
    document.addEventListener("keydown", pressed);
    return () => document.removeEventListener("keydown", pressed);
  }, []);
}
