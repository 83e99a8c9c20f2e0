import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Tabs from "@cloudscape-design/components/tabs";
import { useQuery } from "@tanstack/react-query";
import { useParams } from "react-router";
import { account } from "../api/billing";
import { useGo } from "../app/place";
import { useMay } from "../app/Project";
import { useBillingScope } from "../app/useBillingScope";
import { later } from "../components/later";
import { InZone, useStrings } from "../i18n";

const Spend = later(async () => (await import("./billing/Spend")).Spend);
const Budgets = later(async () => (await import("./billing/Budgets")).Budgets);
const Exports = later(async () => (await import("./billing/Exports")).Exports);
const Funds = later(async () => (await import("./billing/Funds")).Funds);
const Invoices = later(async () => (await import("./billing/Invoices")).Invoices);
const EventTable = later(async () => (await import("../components/EventTable")).EventTable);

/** The money of a project, or of the account whose payer is signed in. */
export function Billing() {
  const { billing: s, events } = useStrings();
  const go = useGo();
  const { tab = "spend" } = useParams();
  const scope = useBillingScope();
  const mayRead = useMay("billing:read");
  const paid = "account" in scope ? scope.account : "";
  const payer = useQuery({ ...account(paid), enabled: paid !== "" });
  return (
    <InZone zone="UTC"><SpaceBetween size="m">
      <Header variant="h1" description={paid ? s.accountText(payer.data?.name ?? "") : s.description}>{s.title}</Header>
      <Tabs
        activeTabId={tab}
        onChange={({ detail }) => go(detail.activeTabId === "spend" ? "/billing" : `/billing/${detail.activeTabId}`)}
        ariaLabel={s.title}
        tabs={[
          { id: "spend", label: s.spend, content: <Spend /> },
          { id: "budgets", label: s.budgets, content: <Budgets /> },
          { id: "invoices", label: s.invoices, content: <Invoices /> },
          { id: "funds", label: s.funds, content: <Funds /> },
          ...(mayRead || paid ? [{ id: "exports", label: s.exports, content: <Exports /> }] : []),
          ...(paid ? [{ id: "events", label: events.title, content: <EventTable account={paid} /> }] : []),
        ]}
      />
    </SpaceBetween></InZone>
  );
}
