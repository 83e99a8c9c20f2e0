import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Tabs from "@cloudscape-design/components/tabs";
import { useNavigate, useParams } from "react-router";
import { useStrings } from "../i18n";
import { Invoices } from "./billing/Invoices";
import { Spend } from "./billing/Spend";

export function Billing() {
  const s = useStrings().billing;
  const go = useNavigate();
  const { tab = "spend" } = useParams();
  return (
    <SpaceBetween size="m">
      <Header variant="h1" description={s.description}>{s.title}</Header>
      <Tabs
        activeTabId={tab}
        onChange={({ detail }) => void go(detail.activeTabId === "spend" ? "/billing" : `/billing/${detail.activeTabId}`)}
        ariaLabel={s.title}
        tabs={[
          { id: "spend", label: s.spend, content: <Spend /> },
          { id: "invoices", label: s.invoices, content: <Invoices /> },
        ]}
      />
    </SpaceBetween>
  );
}
