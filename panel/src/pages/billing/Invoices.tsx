import Header from "@cloudscape-design/components/header";
import Link from "@cloudscape-design/components/link";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useQuery } from "@tanstack/react-query";
import { invoicePage, invoicePdf } from "../../api/billing";
import { useBillingScope } from "../../app/useBillingScope";
import { amount } from "../../components/amount";
import { Choice, optionsOf } from "../../components/Choice";
import { Empty } from "../../components/Empty";
import { Failure } from "../../components/Failure";
import { ListTable } from "../../components/ListTable";
import { To } from "../../components/To";
import { BY_AGE, oneOf, useListView } from "../../components/useListView";
import { useFormat, useStrings } from "../../i18n";
import { lastMonths } from "./months";

const KINDS = ["invoice", "credit_note"] as const;

/** Invoices and credit notes of the account that pays for the project, newest first. */
export function Invoices() {
  const { billing: s, common } = useStrings();
  const f = useFormat();
  const scope = useBillingScope();
  const view = useListView(["kind"], BY_AGE);
  const kind = oneOf(KINDS, view.value("kind"));
  const { data, error, refetch } = useQuery(invoicePage(scope, { kind, limit: 20, order: view.order, cursor: view.pages.cursor }));
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  return (
    <ListTable
      header={<Header variant="h2" description={"project" in scope ? s.invoicesText : s.accountInvoicesText} actions={"project" in scope && <Drafts issued={data?.items.map((each) => each.month) ?? []} />}>{s.invoices}</Header>}
      title={s.invoices}
      view={view}
      page={data}
      trackBy="number"
      wrapLines={false}
      filters={<Choice label={s.kind} value={kind ?? ""} options={optionsOf(common.all, KINDS, s.kinds)} onChange={(value) => view.filter("kind", value)} />}
      columnDefinitions={[
        { id: "number", header: s.number, isRowHeader: true, cell: (each) => <To href={`/billing/invoices/${each.number}`}>{each.number}</To> },
        { id: "kind", header: s.kind, cell: (each) => s.kinds[each.kind] ?? each.kind },
        { id: "month", header: s.month, cell: (each) => f.month(`${each.month}-01T00:00:00Z`) },
        { id: "issued", header: s.issued, sortingField: "created_at", cell: (each) => f.day(each.issued_at) },
        { id: "total", header: amount(s.total), cell: (each) => amount(f.money(each.total)) },
        { id: "open", header: amount(s.open), cell: (each) => amount(f.money(each.outstanding)) },
        { id: "due", header: s.dueOn, cell: (each) => (each.due_on ? f.day(each.due_on) : common.none) },
        { id: "pdf", header: "PDF", cell: (each) => <Link external href={invoicePdf(scope, each.number)} ariaLabel={s.pdfOf(each.number)}>PDF</Link> },
      ]}
      none={<Empty title={s.noInvoices} text={s.noInvoicesText} />}
    />
  );
}

/** Drafts of this month, and of the last one until its invoices are issued. */
function Drafts({ issued }: { issued: string[] }) {
  const s = useStrings().billing;
  const f = useFormat();
  const [, last = ""] = lastMonths(new Date().toISOString());
  return (
    <SpaceBetween size="m" direction="horizontal">
      {!issued.includes(last) && <To href={`/billing/invoices/draft?month=${last}`}>{s.draftOf(f.month(`${last}-01T00:00:00Z`))}</To>}
      <To href="/billing/invoices/draft">{s.draft}</To>
    </SpaceBetween>
  );
}
