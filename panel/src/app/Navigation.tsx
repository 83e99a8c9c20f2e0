import SideNavigation from "@cloudscape-design/components/side-navigation";
import { useLocation } from "react-router";
import { useStrings } from "../i18n";
import { useOperatorPages, usePages } from "./pages";
import { pageOf, useAddressOf, useGo } from "./place";

export function Navigation() {
  const { shell: s, pages: names } = useStrings();
  const go = useGo();
  const addressOf = useAddressOf();
  const pathname = pageOf(useLocation().pathname);
  const pages = usePages();
  const operated = useOperatorPages();
  const active = [...pages, ...operated].filter((page) => pathname === page.href || pathname.startsWith(`${page.href}/`)).at(-1);
  const link = (page: { text: string; href: string }) => ({ type: "link" as const, text: page.text, href: addressOf(page.href) });
  return (
    <SideNavigation
      activeHref={active && addressOf(active.href)}
      items={[
        ...pages.map(link),
        ...(operated.length ? [{ type: "section" as const, text: names.section, items: operated.map(link) }] : []),
        { type: "divider" },
        { type: "link", text: s.docs, href: "/docs", external: true },
      ]}
      onFollow={(event) => {
        if (event.detail.external) return;
        event.preventDefault();
        go(event.detail.href);
      }}
    />
  );
}
