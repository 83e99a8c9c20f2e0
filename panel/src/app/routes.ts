import { createBrowserRouter, type RouteObject } from "react-router";
import { Crashed } from "./Crashed";
import { Moved } from "./Moved";

const nothing = () => null;

/** Pages of a project. */
const PAGES: RouteObject[] = [
  { index: true, lazy: async () => ({ Component: (await import("../pages/Home")).Home }) },
  { path: "clusters", lazy: async () => ({ Component: (await import("../pages/Clusters")).Clusters }) },
  { path: "clusters/create", lazy: async () => ({ Component: (await import("../pages/CreateCluster")).CreateCluster }) },
  { path: "clusters/:id", lazy: async () => ({ Component: (await import("../pages/ClusterPage")).ClusterPage }) },
  { path: "clusters/:id/jobs/:number", lazy: async () => ({ Component: (await import("../pages/JobPage")).JobPage }) },
  { path: "clusters/:id/services/:service", lazy: async () => ({ Component: (await import("../pages/ServicePage")).ServicePage }) },
  { path: "clusters/:id/terminal/:server", lazy: async () => ({ Component: (await import("../pages/TerminalPage")).TerminalPage }) },
  { path: "reservations", lazy: async () => ({ Component: (await import("../pages/Reservations")).Reservations }) },
  { path: "reservations/:id", lazy: async () => ({ Component: (await import("../pages/ReservationPage")).ReservationPage }) },
  { path: "addresses", lazy: async () => ({ Component: (await import("../pages/Addresses")).Addresses }) },
  { path: "volumes/:tab?", lazy: async () => ({ Component: (await import("../pages/Volumes")).Volumes }) },
  { path: "s3-connections", lazy: async () => ({ Component: (await import("../pages/S3Connections")).S3Connections }) },
  { path: "catalogue", lazy: async () => ({ Component: (await import("../pages/Catalogue")).Catalogue }) },
  { path: "catalogue/models/:recipe", lazy: async () => ({ Component: (await import("../pages/RecipePage")).RecipePage }) },
  { path: "catalogue/:flavor", lazy: async () => ({ Component: (await import("../pages/FlavorPage")).FlavorPage }) },
  { path: "events", lazy: async () => ({ Component: (await import("../pages/Events")).Events }) },
  { path: "audit-log", lazy: async () => ({ Component: (await import("../pages/AuditLog")).AuditLog }) },
  { path: "billing/invoices/:number", lazy: async () => ({ Component: (await import("../pages/InvoicePage")).InvoicePage }) },
  { path: "billing/:tab?", lazy: async () => ({ Component: (await import("../pages/Billing")).Billing }) },
  { path: "quotas", lazy: async () => ({ Component: (await import("../pages/Quotas")).Quotas }) },
  { path: "ssh-keys", lazy: async () => ({ Component: (await import("../pages/SshKeys")).SshKeys }) },
  { path: "members", lazy: async () => ({ Component: (await import("../pages/Members")).Members }) },
  { path: "tokens", lazy: async () => ({ Component: (await import("../pages/Tokens")).Tokens }) },
  { path: "webhooks", lazy: async () => ({ Component: (await import("../pages/Webhooks")).Webhooks }) },
  { path: "webhooks/:id", lazy: async () => ({ Component: (await import("../pages/WebhookPage")).WebhookPage }) },
  { path: "*", lazy: async () => ({ Component: (await import("../pages/NotFound")).NotFound }) },
];

/** `begin` is called when a page of those who are signed in is opened, before its files are there. */
export function makeRouter(begin: () => void) {
  return createBrowserRouter([
    { path: "/sign-in", HydrateFallback: nothing, lazy: async () => ({ Component: (await import("../pages/SignIn")).SignIn }) },
    { path: "/sign-in/callback", HydrateFallback: nothing, lazy: async () => ({ Component: (await import("../pages/SignInReturn")).SignInReturn }) },
    { path: "/invitation", HydrateFallback: nothing, lazy: async () => ({ Component: (await import("../pages/AcceptInvitation")).AcceptInvitation }) },
    {
      path: "/",
      loader: () => (begin(), null),
      shouldRevalidate: () => false,
      HydrateFallback: nothing,
      ErrorBoundary: Crashed,
      lazy: async () => ({ Component: (await import("./Shell")).Shell }),
      children: [{ ErrorBoundary: Crashed, children: [ // a page that fails leaves the shell as it is
        { path: "p/:project", children: PAGES },
        { Component: Moved, children: PAGES },
        { path: "notifications", lazy: async () => ({ Component: (await import("../pages/Notifications")).Notifications }) },
        { path: "device", lazy: async () => ({ Component: (await import("../pages/Device")).Device }) },
        { path: "operator/capacity", lazy: async () => ({ Component: (await import("../pages/operator/Capacity")).Capacity }) },
        { path: "operator/machines", lazy: async () => ({ Component: (await import("../pages/operator/HardwareList")).MachineList }) },
        { path: "operator/machines/:name", lazy: async () => ({ Component: (await import("../pages/operator/HardwarePage")).MachinePage }) },
        { path: "operator/hosts", lazy: async () => ({ Component: (await import("../pages/operator/HardwareList")).HostList }) },
        { path: "operator/hosts/:name", lazy: async () => ({ Component: (await import("../pages/operator/HardwarePage")).HostPage }) },
        { path: "operator/projects", lazy: async () => ({ Component: (await import("../pages/operator/ProjectList")).ProjectList }) },
        { path: "operator/projects/:slug", lazy: async () => ({ Component: (await import("../pages/operator/ProjectPage")).ProjectPage }) },
        { path: "operator/prices", lazy: async () => ({ Component: (await import("../pages/operator/PriceBook")).PriceBook }) },
        { path: "operator/quota-requests", lazy: async () => ({ Component: (await import("../pages/operator/QuotaRequests")).QuotaRequests }) },
        { path: "operator/fault-reports", lazy: async () => ({ Component: (await import("../pages/operator/FaultReports")).FaultReports }) },
        { path: "operator/events", lazy: async () => ({ Component: (await import("../pages/operator/OperatorEvents")).OperatorEvents }) },
        { path: "operator/audit-log", lazy: async () => ({ Component: (await import("../pages/operator/PlatformAuditLog")).PlatformAuditLog }) },
        { path: "operator/differences", lazy: async () => ({ Component: (await import("../pages/operator/Differences")).Differences }) },
        { path: "operator/stuck", lazy: async () => ({ Component: (await import("../pages/operator/Stuck")).Stuck }) },
      ] }],
    },
  ]);
}
