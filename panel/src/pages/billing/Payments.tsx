import Header from "@cloudscape-design/components/header";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { useQuery } from "@tanstack/react-query";
import { payments } from "../../api/billing";
import { amount } from "../../components/amount";
import { Choice, optionsOf } from "../../components/Choice";
import { Empty } from "../../components/Empty";
import { Failure } from "../../components/Failure";
import { ListTable } from "../../components/ListTable";
import { To } from "../../components/To";
import { BY_AGE, oneOf, useListView } from "../../components/useListView";
import { useFormat, useStrings } from "../../i18n";
import { useFundsStrings } from "../../i18n/money";

const DIRECTIONS = ["in", "out"] as const;
const STATES = ["pending", "done", "failed"] as const;
const KIND = { pending: "pending", done: "success", failed: "error" } as const;

/** What came in and went out of an account, newest first. */
export function Payments({ account }: { account: string }) {
  const { common } = useStrings();
  const s = useFundsStrings();
  const f = useFormat();
  const view = useListView(["direction", "state"], BY_AGE);
  const direction = oneOf(DIRECTIONS, view.value("direction"));
  const state = oneOf(STATES, view.value("state"));
  const { data, error, refetch } = useQuery(payments(account, { direction, state, order: view.order, limit: 20, cursor: view.pages.cursor }));
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  return (
    <ListTable
      variant="container"
      title={s.payments}
      view={view}
      page={data}
      filters={
        <>
          <Choice label={s.direction} value={direction ?? ""} options={optionsOf(common.all, DIRECTIONS, s.directions)} onChange={(value) => view.filter("direction", value)} />
          <Choice label={common.state} value={state ?? ""} options={optionsOf(common.all, STATES, s.states)} onChange={(value) => view.filter("state", value)} />
        </>
      }
      header={<Header variant="h2">{s.payments}</Header>}
      columnDefinitions={[
        { id: "reference", header: s.reference, isRowHeader: true, cell: (each) => each.reference },
        { id: "direction", header: s.direction, cell: (each) => (each.reverses ? s.reversal : s.directions[each.direction]) },
        { id: "amount", header: amount(s.amount), cell: (each) => amount(f.money(each.amount)) },
        {
          id: "state", header: common.state,
          cell: (each) => <StatusIndicator type={KIND[each.state]}>{each.failure ? `${s.states[each.state]}: ${each.failure}` : s.states[each.state]}</StatusIndicator>,
        },
        { id: "for", header: s.paidFor, cell: (each) => (each.invoice ? <To href={`/billing/invoices/${each.invoice}`}>{each.invoice}</To> : s.forWallet) },
        { id: "created", header: common.created, sortingField: "created_at", cell: (each) => f.moment(each.created_at) },
      ]}
      none={<Empty title={s.noPayments} text={s.noPaymentsText} />}
    />
  );
}
