import { useStrings } from "../i18n";
import { useChoice, useMay } from "./Project";

export type Page = { text: string; href: string };

/** The pages that the navigation lists, in its order. */
export function usePages(): Page[] {
  const { audit, shell: s, members, pages, quotas } = useStrings();
  const { who } = useChoice();
  const mayBill = useMay("billing:read");
  const seesTokens = useMay("token:read");
  const seesMembers = useMay("member:read");
  const seesAudit = useMay("audit-log:read");
  const seesProject = useMay("project:read");
  if (who.token.account_id) return [{ text: s.billing, href: "/billing" }];
  return [
    { text: s.overview, href: "/" },
    { text: s.clusters, href: "/clusters" },
    { text: s.reservations, href: "/reservations" },
    { text: s.volumes, href: "/volumes" },
    { text: s.addresses, href: "/addresses" },
    ...(seesProject ? [{ text: s.s3Connections, href: "/s3-connections" }] : []),
    { text: s.catalogue, href: "/catalogue" },
    { text: s.events, href: "/events" },
    ...(mayBill ? [{ text: s.billing, href: "/billing" }] : []),
    { text: quotas.title, href: "/quotas" },
    { text: s.sshKeys, href: "/ssh-keys" },
    ...(seesMembers ? [{ text: members.title, href: "/members" }] : []),
    ...(seesTokens ? [{ text: pages.tokens, href: "/tokens" }] : []),
    ...(seesProject ? [{ text: pages.webhooks, href: "/webhooks" }] : []),
    ...(seesAudit ? [{ text: audit.title, href: "/audit-log" }] : []),
  ];
}

/** The pages of those who run the service. */
export function useOperatorPages(): Page[] {
  const { audit, pages: s, quotas } = useStrings();
  return useMay("platform:read") ? [
    { text: s.capacity, href: "/operator/capacity" },
    { text: s.machines, href: "/operator/machines" },
    { text: s.hosts, href: "/operator/hosts" },
    { text: s.projects, href: "/operator/projects" },
    { text: s.prices, href: "/operator/prices" },
    { text: quotas.requests, href: "/operator/quota-requests" },
    { text: s.faultReports, href: "/operator/fault-reports" },
    { text: s.stuck, href: "/operator/stuck" },
    { text: s.differences, href: "/operator/differences" },
    { text: s.platformEvents, href: "/operator/events" },
    { text: audit.platformTitle, href: "/operator/audit-log" },
  ] : [];
}
