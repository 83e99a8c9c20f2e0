import Link from "@cloudscape-design/components/link";
import type { ReactNode } from "react";
import { useNavigate } from "react-router";

/** A link to a page of the panel. */
export function To({ href, children }: { href: string; children: ReactNode }) {
  const go = useNavigate();
  return (
    <Link
      href={href}
      onFollow={(event) => {
        event.preventDefault();
        void go(href);
      }}
    >
      {children}
    </Link>
  );
}
