import Header from "@cloudscape-design/components/header";
import Link from "@cloudscape-design/components/link";
import Pagination from "@cloudscape-design/components/pagination";
import Table from "@cloudscape-design/components/table";
import { useQuery } from "@tanstack/react-query";
import { invoicePage, invoicePdf } from "../../api/billing";
import { useProject } from "../../app/Project";
import { Empty } from "../../components/Empty";
import { Failure } from "../../components/Failure";
import { To } from "../../components/To";
import { useCursor } from "../../components/useCursor";
import { useFormat, useStrings } from "../../i18n";

/** Invoices and credit notes of the account that pays for the project, newest first. */
export function Invoices() {
  const { billing: s, common } = useStrings();
  const f = useFormat();
  const project = useProject();
  const pages = useCursor();
  const { data, error, isPending, refetch } = useQuery(invoicePage(project, { limit: 20, cursor: pages.cursor }));
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  return (
    <Table
      header={<Header variant="h2" description={s.invoicesText} actions={<To href="/billing/invoices/draft">{s.draft}</To>}>{s.invoices}</Header>}
      items={data?.items ?? []}
      loading={isPending}
      loadingText={common.loading}
      trackBy="number"
      ariaLabels={{ tableLabel: s.invoices }}
      columnDefinitions={[
        { id: "number", header: s.number, isRowHeader: true, cell: (each) => <To href={`/billing/invoices/${each.number}`}>{each.number}</To> },
        { id: "kind", header: s.kind, cell: (each) => s.kinds[each.kind] ?? each.kind },
        { id: "month", header: s.month, cell: (each) => f.month(`${each.month}-01T00:00:00Z`) },
        { id: "issued", header: s.issued, cell: (each) => f.day(each.issued_at) },
        { id: "total", header: s.total, cell: (each) => f.money(each.total) },
        { id: "open", header: s.open, cell: (each) => f.money(each.outstanding) },
        { id: "due", header: s.dueOn, cell: (each) => (each.due_on ? f.day(each.due_on) : common.none) },
        { id: "pdf", header: "PDF", cell: (each) => <Link external href={invoicePdf(project, each.number)} ariaLabel={s.pdfOf(each.number)}>PDF</Link> },
      ]}
      pagination={
        <Pagination
          {...pages.pagination(data?.next_cursor)}
          ariaLabels={{ nextPageLabel: common.nextPage, previousPageLabel: common.previousPage, pageLabel: common.page }}
        />
      }
      empty={<Empty title={s.noInvoices} text={s.noInvoicesText} />}
    />
  );
}
