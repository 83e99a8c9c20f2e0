import SideNavigation, { type SideNavigationProps } from "@cloudscape-design/components/side-navigation";
import { useLocation, useNavigate } from "react-router";
import { useStrings } from "../i18n";
import { useMay } from "./Project";

export function Navigation() {
  const { shell: s, operator } = useStrings();
  const operates = useMay("platform:read");
  const go = useNavigate();
  const { pathname } = useLocation();
  const link = (text: string, href: string): SideNavigationProps.Link => ({ type: "link", text, href });
  const items = [link(s.overview, "/"), link(s.clusters, "/clusters"), link(s.events, "/events"), link(s.sshKeys, "/ssh-keys")];
  const operated = operates ? [link(operator.capacity, "/operator/capacity")] : [];
  const active = [...items, ...operated].filter((item) => pathname === item.href || pathname.startsWith(`${item.href}/`)).at(-1);
  return (
    <SideNavigation
      activeHref={active?.href}
      items={[
        ...items,
        ...(operates ? [{ type: "section" as const, text: operator.section, items: operated }] : []),
        { type: "divider" },
        { type: "link", text: s.docs, href: "/docs", external: true },
      ]}
      onFollow={(event) => {
        if (event.detail.external) return;
        event.preventDefault();
        void go(event.detail.href);
      }}
    />
  );
}
