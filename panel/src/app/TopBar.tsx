import TopNavigation, { type TopNavigationProps } from "@cloudscape-design/components/top-navigation";
import { Mode } from "@cloudscape-design/global-styles";
import { useQueryClient } from "@tanstack/react-query";
import type { Live } from "../api/live";
import { signOut } from "../api/session";
import { hereZone, useFormat, useLanguage, useStrings, useZone } from "../i18n";
import { useMode } from "./mode";
import { useAddressOf, useGo } from "./place";
import { useChoice } from "./Project";
import { useMemberships } from "./useMemberships";

const LIVE_ICON = { live: "status-positive", connecting: "status-pending", offline: "status-negative", polling: "refresh" } as const;

export function TopBar({ live, onGoTo }: { live: Live; onGoTo: () => void }) {
  const { shell: s, notifications: mails } = useStrings();
  const f = useFormat();
  const go = useGo();
  const addressOf = useAddressOf();
  const cache = useQueryClient();
  const [mode, toggle] = useMode();
  const { language, choose: chooseLanguage } = useLanguage();
  const { zone, chooseZone } = useZone();
  const otherZone = zone === "UTC" ? hereZone() : "UTC";
  const { who, projects, slug } = useChoice();
  const others = useMemberships(who);
  const leave = async () => {
    const left = await signOut().catch(() => null); // a session that ended already is one that is left
    cache.clear();
    go("/sign-in", { replace: true, state: left });
  };
  const switcher: TopNavigationProps.Utility[] = slug ? [{
    type: "menu-dropdown",
    text: projects.find((each) => each.slug === slug)?.name ?? slug,
    ariaLabel: `${s.project}: ${projects.find((each) => each.slug === slug)?.name ?? slug}`,
    title: s.project,
    items: projects.map((each) => ({ id: each.slug, text: each.name, description: each.slug })),
    onItemClick: (event) => {
      go(`/p/${encodeURIComponent(event.detail.id)}`);
    },
  }] : [];
  const clock = (time: number) => f.clock(new Date(time).toISOString());
  const connection = live.state === "offline" ? s.offlineSince(clock(live.since)) : s.live[live.state];
  const help = [s.liveHelp[live.state], ...(live.last ? [s.lastEvent(clock(live.last))] : [])].join(" ");
  return (
    <TopNavigation
      identity={{
        href: addressOf("/"),
        title: s.product,
        logo: { src: "/favicon.svg", alt: "Logo" },
        onFollow: (event) => {
          event.preventDefault();
          go("/");
        },
      }}
      utilities={[
        { type: "button", text: s.goTo, iconName: "search", title: s.goToKey, ariaLabel: s.goToKey, onClick: onGoTo },
        { type: "button", text: connection, iconName: LIVE_ICON[live.state], title: help, ariaLabel: `${connection}: ${help}` },
        ...switcher,
        {
          type: "menu-dropdown",
          text: language === "de" ? "Deutsch" : "English",
          ariaLabel: `${s.language}: ${language === "de" ? "Deutsch" : "English"}`,
          title: s.language,
          items: [{ id: "en", text: "English", lang: "en" }, { id: "de", text: "Deutsch", lang: "de" }],
          onItemClick: (event) => chooseLanguage(event.detail.id === "de" ? "de" : "en"),
        },
        { type: "button", text: mode === Mode.Dark ? s.light : s.dark, onClick: toggle },
        {
          type: "menu-dropdown",
          text: who.token.name,
          description: s.roles[who.role] ?? who.role,
          iconName: "user-profile",
          items: [...others.items, ...(who.token.owner ? [{ id: "mails", text: mails.title }] : []), ...(otherZone === zone ? [] : [{ id: "zone", text: s.timesIn(otherZone) }]), { id: "out", text: s.signOut }],
          onItemClick: ({ detail }) => void (detail.id === "out" ? leave() : detail.id === "zone" ? chooseZone(otherZone) : detail.id === "mails" ? go("/notifications") : others.goOn(detail.id)),
        },
      ]}
    />
  );
}
