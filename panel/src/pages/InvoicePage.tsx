import Alert from "@cloudscape-design/components/alert";
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Table from "@cloudscape-design/components/table";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useParams, useSearchParams } from "react-router";
import { invoice, invoicePage, invoicePdf } from "../api/billing";
import type { Schemas } from "../api/client";
import { regions } from "../api/queries";
import { useBillingScope } from "../app/useBillingScope";
import { amount } from "../components/amount";
import { FailedPage, Failure } from "../components/Failure";
import { Loading } from "../components/Loading";
import { To } from "../components/To";
import { InZone, useFormat, useStrings } from "../i18n";
import { EInvoices } from "./billing/EInvoices";

type Invoice = Schemas["Invoice"];

/** An invoice, a credit note, or the draft of the next invoice. */
export const InvoicePage = () => <InZone zone="UTC"><Document /></InZone>;

function Document() {
  const s = useStrings().billing;
  const f = useFormat();
  const scope = useBillingScope();
  const { number = "" } = useParams();
  const month = useSearchParams()[0].get("month") ?? undefined;
  const [refused, setRefused] = useState<unknown>(null);
  const regionNames = new Map(useQuery(regions).data?.items.map((each) => [each.slug, each.name]));
  const { data, error, refetch } = useQuery(invoice(scope, number, month));
  if (error && !data) return <FailedPage title={number} error={error} retry={() => void refetch()} />;
  if (!data) return <Loading />;
  const title = `${s.kinds[data.kind] ?? data.kind} ${data.number ?? ""}`.trim();
  return (
    <SpaceBetween size="l">
      <Header
        variant="h1"
        description={s.period(f.day(data.period.since), f.day(lastDay(data.period.until)))}
        actions={
          <SpaceBetween size="xs" direction="horizontal">
            {data.number !== null && <EInvoices scope={scope} number={data.number} onRefused={setRefused} />}
            <Button href={invoicePdf(scope, number, month)} target="_blank" iconName="download" iconAlign="left">PDF</Button>
          </SpaceBetween>
        }
      >
        {title}
      </Header>
      <Failure error={refused} />
      {data.number === null && <Alert type="info">{s.draftText}</Alert>}
      {data.invoice && (
        <Alert type="info">
          {s.corrects} <To href={`/billing/invoices/${data.invoice}`}>{data.invoice}</To>{data.reason ? `: ${data.reason}` : ""}
        </Alert>
      )}
      <Container header={<Header variant="h2">{s.amounts}</Header>}><Amounts invoice={data} /></Container>
      <Table
        header={<Header variant="h2">{s.lines}</Header>}
        items={data.lines ?? []}
        wrapLines
        ariaLabels={{ tableLabel: s.lines }}
        columnDefinitions={[
          { id: "sku", header: s.sku, isRowHeader: true, cell: (each) => (each.correction ? s.correction(each.sku) : each.sku) },
          { id: "project", header: s.project, cell: (each) => each.project },
          { id: "region", header: s.region, cell: (each) => regionNames.get(each.region) ?? each.region },
          { id: "month", header: s.month, cell: (each) => f.month(`${each.usage_month}-01T00:00:00Z`) },
          { id: "minutes", header: s.machineMinutes, cell: (each) => f.number(each.machine_minutes) },
          { id: "price", header: amount(s.unitPrice), cell: (each) => amount(f.money(each.unit_price, each.unit_price.amount.split(".")[1]?.length ?? 0)) },
          { id: "amount", header: amount(s.amount), cell: (each) => amount(f.money(each.amount)) },
        ]}
      />
    </SpaceBetween>
  );
}

/** The day before an exclusive end. */
const lastDay = (until: string) => new Date(Date.parse(until) - 86_400_000).toISOString();

/** The sums of the document, what of it is still to be paid, and the credit notes that correct it. */
function Amounts({ invoice }: { invoice: Invoice }) {
  const s = useStrings().billing;
  const f = useFormat();
  const issued = useQuery({ ...invoicePage(useBillingScope(), { limit: 200, order: "-created_at" }), enabled: invoice.number !== null });
  const open = issued.data?.items.find((each) => each.number === invoice.number && each.kind === "invoice")?.outstanding;
  const notes = issued.data?.items.filter((each) => each.invoice !== null && each.invoice === invoice.number) ?? [];
  const shown: [string, Schemas["Money"] | null | undefined][] = [
    [s.subtotal, invoice.subtotal], [s.promo, invoice.promo_applied], [s.taxable, invoice.taxable], [s.net, invoice.net],
    [s.taxAmount, invoice.tax], [s.total, invoice.total], [s.walletApplied, invoice.wallet_applied], [s.due, invoice.due],
  ];
  return (
    <KeyValuePairs
      columns={4}
      items={[
        { label: s.customer, value: invoice.customer.legal_name },
        { label: s.issued, value: f.day(invoice.issued_on) },
        ...(invoice.due_on ? [{ label: s.dueOn, value: f.day(invoice.due_on) }] : []),
        ...shown.flatMap(([label, value]) => (value ? [{ label, value: f.money(value) }] : [])),
        ...(open ? [{ label: s.open, value: Number(open.amount) > 0 ? f.money(open) : s.paid }] : []),
        ...(notes.length ? [{ label: s.creditNotes, value: notes.map((each) => <div key={each.number}><To href={`/billing/invoices/${each.number}`}>{each.number}</To>: {f.money(each.total)}</div>) }] : []),
      ]}
    />
  );
}
