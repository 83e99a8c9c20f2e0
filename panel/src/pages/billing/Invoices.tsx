import Header from "@cloudscape-design/components/header";
import Link from "@cloudscape-design/components/link";
import Table from "@cloudscape-design/components/table";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { invoicePage, invoicePdf } from "../../api/billing";
import type { Schemas } from "../../api/client";
import { useBillingScope } from "../../app/useBillingScope";
import { Empty } from "../../components/Empty";
import { Failure } from "../../components/Failure";
import { Pager } from "../../components/Pager";
import { To } from "../../components/To";
import { useCursor } from "../../components/useCursor";
import { useFormat, useStrings } from "../../i18n";

/** Invoices and credit notes of the account that pays for the project, newest first. */
export function Invoices() {
  const { billing: s, common } = useStrings();
  const f = useFormat();
  const scope = useBillingScope();
  const [order, setOrder] = useState<Schemas["Order"]>("-created_at");
  const pages = useCursor();
  const { data, error, isPending, refetch } = useQuery(invoicePage(scope, { limit: 20, order, cursor: pages.cursor }));
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  return (
    <Table
      header={<Header variant="h2" description={"project" in scope ? s.invoicesText : s.accountInvoicesText} actions={"project" in scope && <To href="/billing/invoices/draft">{s.draft}</To>}>{s.invoices}</Header>}
      items={data?.items ?? []}
      loading={isPending}
      loadingText={common.loading}
      trackBy="number"
      ariaLabels={{ tableLabel: s.invoices }}
      sortingColumn={{ sortingField: "issued_at" }}
      sortingDescending={order === "-created_at"}
      onSortingChange={({ detail }) => {
        setOrder(detail.isDescending ? "-created_at" : "created_at");
        pages.reset();
      }}
      columnDefinitions={[
        { id: "number", header: s.number, isRowHeader: true, cell: (each) => <To href={`/billing/invoices/${each.number}`}>{each.number}</To> },
        { id: "kind", header: s.kind, cell: (each) => s.kinds[each.kind] ?? each.kind },
        { id: "month", header: s.month, cell: (each) => f.month(`${each.month}-01T00:00:00Z`) },
        { id: "issued", header: s.issued, sortingField: "issued_at", cell: (each) => f.day(each.issued_at) },
        { id: "total", header: s.total, cell: (each) => f.money(each.total) },
        { id: "open", header: s.open, cell: (each) => f.money(each.outstanding) },
        { id: "due", header: s.dueOn, cell: (each) => (each.due_on ? f.day(each.due_on) : common.none) },
        { id: "pdf", header: "PDF", cell: (each) => <Link external href={invoicePdf(scope, each.number)} ariaLabel={s.pdfOf(each.number)}>PDF</Link> },
      ]}
      pagination={<Pager pages={pages} next={data?.next_cursor} />}
      empty={<Empty title={s.noInvoices} text={s.noInvoicesText} />}
    />
  );
}
