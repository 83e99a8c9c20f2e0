import { useEffect, useState } from "react";

const SETTLED_MS = 400;

/** A value once it has not changed for a moment: what is asked of the service should not follow each key. `of` tells values apart. */
export function useSettled<Value>(value: Value, of: string): { value: Value; settled: boolean } {
  const [held, setHeld] = useState({ value, of });
  useEffect(() => {
    if (held.of === of) return;
    const timer = window.setTimeout(() => setHeld({ value, of }), SETTLED_MS);
    return () => clearTimeout(timer);
  }, [held.of, of, value]);
  return { value: held.value, settled: held.of === of };
}
