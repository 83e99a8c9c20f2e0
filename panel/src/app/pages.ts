import { useStrings } from "../i18n";
import { useMay } from "./Project";

export type Page = { text: string; href: string };

/** The pages that the navigation lists, in its order. */
export function usePages(): Page[] {
  const { shell: s, quotas } = useStrings();
  const mayBill = useMay("billing:read");
  return [
    { text: s.overview, href: "/" },
    { text: s.clusters, href: "/clusters" },
    { text: s.events, href: "/events" },
    ...(mayBill ? [{ text: s.billing, href: "/billing" }] : []),
    { text: quotas.title, href: "/quotas" },
    { text: s.sshKeys, href: "/ssh-keys" },
  ];
}

/** The pages of those who run the service. */
export function useOperatorPages(): Page[] {
  const { operator: s, quotas } = useStrings();
  return useMay("platform:read") ? [
    { text: s.capacity, href: "/operator/capacity" },
    { text: s.machines, href: "/operator/machines" },
    { text: quotas.requests, href: "/operator/quota-requests" },
    { text: s.stuck, href: "/operator/stuck" },
  ] : [];
}
