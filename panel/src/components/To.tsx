import Link from "@cloudscape-design/components/link";
import type { ReactNode } from "react";
import { useAddressOf, useGo } from "../app/place";

/** A link to a page of the panel. */
export function To({ href, children }: { href: string; children: ReactNode }) {
  const go = useGo();
  const addressOf = useAddressOf();
  return (
    <Link
      href={addressOf(href)}
      onFollow={(event) => {
        event.preventDefault();
        go(href);
      }}
    >
      {children}
    </Link>
  );
}
