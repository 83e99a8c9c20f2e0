import Header from "@cloudscape-design/components/header";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import Table from "@cloudscape-design/components/table";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { payments } from "../../api/billing";
import type { Schemas } from "../../api/client";
import { Empty } from "../../components/Empty";
import { Failure } from "../../components/Failure";
import { Pager } from "../../components/Pager";
import { To } from "../../components/To";
import { useCursor } from "../../components/useCursor";
import { useFormat, useStrings } from "../../i18n";
import { useFundsStrings } from "../../i18n/money";

const KIND = { pending: "pending", done: "success", failed: "error" } as const;

/** What came in and went out of an account, newest first. */
export function Payments({ account }: { account: string }) {
  const { common } = useStrings();
  const s = useFundsStrings();
  const f = useFormat();
  const [order, setOrder] = useState<Schemas["Order"]>("-created_at");
  const pages = useCursor();
  const { data, error, isPending, refetch } = useQuery(payments(account, { order, limit: 20, cursor: pages.cursor }));
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  return (
    <Table
      variant="container"
      wrapLines
      trackBy="id"
      items={data?.items ?? []}
      loading={isPending}
      loadingText={common.loading}
      ariaLabels={{ tableLabel: s.payments }}
      header={<Header variant="h2">{s.payments}</Header>}
      sortingColumn={{ sortingField: "created_at" }}
      sortingDescending={order === "-created_at"}
      onSortingChange={({ detail }) => {
        setOrder(detail.isDescending ? "-created_at" : "created_at");
        pages.reset();
      }}
      columnDefinitions={[
        { id: "reference", header: s.reference, isRowHeader: true, cell: (each) => each.reference },
        { id: "direction", header: s.direction, cell: (each) => s.directions[each.direction] },
        { id: "amount", header: s.amount, cell: (each) => f.money(each.amount) },
        {
          id: "state", header: common.state,
          cell: (each) => <StatusIndicator type={KIND[each.state]}>{each.failure ? `${s.states[each.state]}: ${each.failure}` : s.states[each.state]}</StatusIndicator>,
        },
        { id: "for", header: s.paidFor, cell: (each) => (each.invoice ? <To href={`/billing/invoices/${each.invoice}`}>{each.invoice}</To> : s.forWallet) },
        { id: "created", header: common.created, sortingField: "created_at", cell: (each) => f.moment(each.created_at) },
      ]}
      pagination={<Pager pages={pages} next={data?.next_cursor} />}
      empty={<Empty title={s.noPayments} text={s.noPaymentsText} />}
    />
  );
}
