import { useLayoutEffect, useRef, type ReactNode } from "react";

/** Text from its end: it moves on with `text` while one has not scrolled away from there. */
export function Tail({ label, text, children }: { label: string; text: unknown; children: ReactNode }) {
  const box = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  useLayoutEffect(() => {
    if (follows.current && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [text]);
  return (
    <div
      ref={box}
      className="request job-log"
      tabIndex={0}
      role="region"
      aria-label={label}
      onScroll={({ currentTarget: at }) => { follows.current = at.scrollHeight - at.scrollTop - at.clientHeight < 24; }}
    >
      {children}
    </div>
  );
}
