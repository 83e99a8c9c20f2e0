import Button from "@cloudscape-design/components/button";
import Header from "@cloudscape-design/components/header";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { times } from "../../api/catalogue";
import { regions } from "../../api/queries";
import { allAccounts, listPrices, priceBook, withdrawPrice, type BookedPrice } from "../../api/tenants";
import { useFlash } from "../../app/Flashes";
import { useMay } from "../../app/Project";
import { amount } from "../../components/amount";
import { Choice, optionsOf } from "../../components/Choice";
import { Consequences } from "../../components/Consequences";
import { Dialog } from "../../components/Dialog";
import { Empty } from "../../components/Empty";
import { FailedPage } from "../../components/Failure";
import { later } from "../../components/later";
import { ListTable } from "../../components/ListTable";
import { useChange } from "../../components/useChange";
import { oneOf, useListView } from "../../components/useListView";
import { useFormat, useStrings } from "../../i18n";
import { useTenantStrings } from "../../i18n/tenants";

const AddPrice = later(async () => (await import("./tenants/AddPrice")).AddPrice, null);

/** As many decimal places as the price has, and at least four. */
const digits = (amount: string) => Math.max(4, (amount.split(".")[1] ?? "").replace(/0+$/, "").length);

const FILTERS = ["sku", "region", "contract", "account", "state"] as const;
const ORDERS = ["sku", "-sku", "account", "-account", "valid_from", "-valid_from"] as const;
const STATES = ["current", "future", "past"] as const;
const KINDS = ["false", "true"] as const;

/** Whether a version is in force, seen from an instant (Unix time in ms). */
function stateOf(price: BookedPrice, now: number): (typeof STATES)[number] {
  if (now < Date.parse(price.valid_from)) return "future";
  return price.valid_to !== null && Date.parse(price.valid_to) <= now ? "past" : "current";
}

/** For operators: the versions of all prices; new ones are added, and those that have not begun can be withdrawn. */
export function PriceBook() {
  const { common } = useStrings();
  const s = useTenantStrings();
  const f = useFormat();
  const may = useMay("account:read");
  const mayChange = useMay("account:write");
  const view = useListView(FILTERS, ORDERS);
  const state = oneOf(STATES, view.value("state"));
  const contract = oneOf(KINDS, view.value("contract"));
  const { data, error, refetch } = useQuery({
    ...priceBook({
      sku: view.value("sku"), region: view.value("region"), account: view.value("account"), contract: contract && contract === "true", state,
      order: view.order, limit: 50, cursor: view.pages.cursor,
    }),
    enabled: may,
  });
  const now = data?.readAt ?? 0;
  const accounts = useQuery({ ...allAccounts, enabled: may }).data ?? [];
  const [adding, setAdding] = useState(false);
  const [leaving, setLeaving] = useState<BookedPrice>();
  if (!may) return <Empty page title={s.prices} text={common.notAllowed} />;
  if (error && !data) return <FailedPage title={s.prices} error={error} retry={() => void refetch()} />;
  const whose = (each: BookedPrice) => (each.account_id ? (accounts.find((one) => one.id === each.account_id)?.name ?? each.account_id) : s.everybody);
  const withdraw = (each: BookedPrice) => stateOf(each, now) === "future" && (
    <Button variant="inline-link" ariaLabel={s.withdrawOf(each.sku, each.region)} onClick={() => setLeaving(each)}>{s.withdraw}</Button>
  );
  return (
    <>
      <ListTable
        variant="full-page"
        stickyHeader
        title={s.prices}
        view={view}
        page={data}
        filters={<PriceFilters view={view} accounts={Object.fromEntries(accounts.map((each) => [each.id, each.name]))} />}
        none={<Empty title={s.noPrices} text={s.noPricesText} />}
        header={
          <Header
            variant="awsui-h1-sticky"
            description={s.pricesText}
            actions={mayChange && <Button variant="primary" onClick={() => setAdding(true)}>{s.addPrice}</Button>}
          >
            {s.prices}
          </Header>
        }
        columnDefinitions={[
          { id: "sku", header: s.sku, isRowHeader: true, minWidth: 140, sortingField: "sku", cell: (each) => each.sku },
          { id: "region", header: s.region, minWidth: 140, cell: (each) => each.region },
          { id: "minute", header: amount(s.perMinute), cell: (each) => amount(f.money(each.unit_price, digits(each.unit_price.amount))) },
          { id: "hour", header: amount(s.perHour), cell: (each) => amount(f.money(times(each.unit_price, 60))) },
          { id: "whose", header: s.forWhom, sortingField: "account", cell: whose },
          { id: "time", header: s.time, cell: (each) => s.times[stateOf(each, now)] },
          { id: "from", header: s.validFrom, sortingField: "valid_from", cell: (each) => f.moment(each.valid_from) },
          { id: "to", header: s.validTo, cell: (each) => (each.valid_to ? f.moment(each.valid_to) : common.none) },
          { id: "source", header: s.source, cell: (each) => each.source },
          ...(mayChange ? [{ id: "do", header: common.actions, minWidth: 120, cell: withdraw }] : []),
        ]}
      />
      {adding && <AddPrice onClose={() => setAdding(false)} />}
      {leaving && <Withdraw price={leaving} onClose={() => setLeaving(undefined)} />}
    </>
  );
}

type View = Pick<ReturnType<typeof useListView<(typeof FILTERS)[number], (typeof ORDERS)[number]>>, "value" | "filter">;

function PriceFilters({ view, accounts }: { view: View; accounts: Record<string, string> }) {
  const { common } = useStrings();
  const s = useTenantStrings();
  const skus = new Set(useQuery(listPrices).data?.items.map((each) => each.sku));
  const places = useQuery(regions).data?.items ?? [];
  const choice = (label: string, filter: (typeof FILTERS)[number], values: readonly string[], words: Record<string, string> = {}) => (
    <Choice label={label} value={view.value(filter) ?? ""} options={optionsOf(common.all, values, words)} onChange={(value) => view.filter(filter, value)} />
  );
  return (
    <>
      {choice(s.sku, "sku", [...skus].toSorted())}
      {choice(s.region, "region", places.map((each) => each.slug))}
      {choice(s.kind, "contract", KINDS, s.kinds)}
      {choice(s.account, "account", Object.keys(accounts), accounts)}
      {choice(s.time, "state", STATES, s.times)}
    </>
  );
}

function Withdraw({ price, onClose }: { price: BookedPrice; onClose: () => void }) {
  const s = useTenantStrings();
  const flash = useFlash();
  const run = useChange(() => withdrawPrice(price.id), () => {
    flash({ type: "success", content: s.withdrawn(price.sku) });
    onClose();
  }, "operator");
  return (
    <Dialog title={s.withdrawOf(price.sku, price.region)} submit={s.withdraw} pending={run.isPending} error={run.error} onSubmit={() => run.mutate()} onClose={onClose}>
      <Consequences lines={[s.withdrawText]} />
    </Dialog>
  );
}
