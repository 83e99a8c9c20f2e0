import Alert from "@cloudscape-design/components/alert";
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import Table from "@cloudscape-design/components/table";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { credits, funds } from "../../api/billing";
import type { Schemas } from "../../api/client";
import { useMay } from "../../app/Project";
import { useBillingScope } from "../../app/useBillingScope";
import { amount } from "../../components/amount";
import { Empty } from "../../components/Empty";
import { Failure } from "../../components/Failure";
import { Loading } from "../../components/Loading";
import { later } from "../../components/later";
import { useFormat, useStrings } from "../../i18n";
import { useFundsStrings } from "../../i18n/money";
import { Payments } from "./Payments";

const TopUpDialog = later(async () => (await import("./TopUpDialog")).TopUpDialog, null);

/** What the account that pays has: wallet, credits, what is still to pay, and how it is topped up. */
export function Funds() {
  const s = useFundsStrings();
  const scope = useBillingScope();
  const may = useMay("billing:write") && "project" in scope;
  const sees = useMay("billing:read") || "account" in scope;
  const { data, error, refetch } = useQuery(funds(scope));
  const [topping, setTopping] = useState(false);
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  if (!data) return <Loading />;
  return (
    <SpaceBetween size="l">
      {data.top_up?.pause_reason && <Alert type="warning">{s.paused[data.top_up.pause_reason]}</Alert>}
      <Container
        header={<Header variant="h2" description={s.text} actions={may && <Button onClick={() => setTopping(true)}>{s.topUp}</Button>}>{s.title}</Header>}
      >
        <Figures funds={data} />
      </Container>
      {data.top_up && <Container header={<Header variant="h2" description={s.automaticText}>{s.automatic}</Header>}><Automatic topUp={data.top_up} /></Container>}
      {sees && <Credits />}
      {"account" in scope && <Payments account={scope.account} />}
      {topping && <TopUpDialog currency={data.wallet.currency} onClose={() => setTopping(false)} />}
    </SpaceBetween>
  );
}

function Figures({ funds }: { funds: Schemas["Funds"] }) {
  const b = useStrings().billing;
  const s = useFundsStrings();
  const f = useFormat();
  const prepaid = funds.when_empty !== null;
  return (
    <KeyValuePairs
      columns={4}
      items={[
        { label: b.wallet, value: f.money(funds.wallet) },
        { label: b.credit, value: f.money(funds.credit) },
        { label: b.outstanding, value: f.money(funds.outstanding) },
        { label: s.unbilled, value: f.money(funds.unbilled) },
        { label: s.kind, value: funds.when_empty ? s.whenEmpty[funds.when_empty] : s.postpaid },
        ...(prepaid ? [
          { label: s.state, value: <StatusIndicator type={funds.state === "empty" ? "error" : "success"}>{funds.state === "empty" ? s.empty : s.funded}</StatusIndicator> },
          { label: s.available, value: f.money(funds.available) },
          { label: s.lasts, value: funds.lasts_until ? f.moment(funds.lasts_until) : s.lastsLong },
        ] : []),
        { label: b.perHour, value: f.money(funds.per_hour) },
      ]}
    />
  );
}

function Automatic({ topUp }: { topUp: Schemas["TopUp"] }) {
  const s = useFundsStrings();
  const f = useFormat();
  const level = topUp.below ? f.money(topUp.below) : f.duration((topUp.below_hours ?? 0) * 3600);
  return (
    <KeyValuePairs
      columns={4}
      items={[
        { label: s.each, value: f.money(topUp.amount) },
        { label: s.below, value: level },
        { label: s.thisMonth, value: s.ofLimit(f.money(topUp.this_month), f.money(topUp.month_limit)) },
        ...(topUp.reference ? [{ label: s.underWay, value: topUp.reference }] : []),
      ]}
    />
  );
}

function Credits() {
  const { common } = useStrings();
  const s = useFundsStrings();
  const f = useFormat();
  const { data, error, isPending, refetch } = useQuery(credits(useBillingScope()));
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  return (
    <Table
      variant="container"
      trackBy="id"
      items={data?.items ?? []}
      loading={isPending}
      loadingText={common.loading}
      ariaLabels={{ tableLabel: s.credits }}
      header={<Header variant="h2" description={s.creditsText}>{s.credits}</Header>}
      columnDefinitions={[
        { id: "reason", header: s.reason, isRowHeader: true, cell: (each) => each.reason },
        { id: "amount", header: amount(s.granted), cell: (each) => amount(f.money(each.amount)) },
        { id: "remaining", header: amount(s.remaining), cell: (each) => amount(f.money(each.remaining)) },
        { id: "expires", header: s.expires, cell: (each) => f.moment(each.expires_at) },
        { id: "created", header: common.created, cell: (each) => f.day(each.created_at) },
      ]}
      empty={<Empty title={s.noCredits} text={s.noCreditsText} />}
    />
  );
}
