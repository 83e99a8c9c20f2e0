import Button from "@cloudscape-design/components/button";
import Header from "@cloudscape-design/components/header";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { allAccounts, priceBook, withdrawPrice, type BookedPrice } from "../../api/tenants";
import { times } from "../../api/catalogue";
import { useFlash } from "../../app/Flashes";
import { useMay } from "../../app/Project";
import { Choice } from "../../components/Choice";
import { Consequences } from "../../components/Consequences";
import { Dialog } from "../../components/Dialog";
import { Empty } from "../../components/Empty";
import { FailedPage } from "../../components/Failure";
import { later } from "../../components/later";
import { byText, LocalTable } from "../../components/LocalTable";
import { useChange } from "../../components/useChange";
import { useFormat, useStrings } from "../../i18n";
import { useTenantStrings } from "../../i18n/tenants";

const AddPrice = later(async () => (await import("./tenants/AddPrice")).AddPrice, null);

/** As many decimal places as the price has, and at least four. */
const digits = (amount: string) => Math.max(4, (amount.split(".")[1] ?? "").replace(/0+$/, "").length);
type Time = "all" | "now" | "later" | "past";

/** When a version is in force, seen from an instant (Unix time in ms). */
function timeOf(price: BookedPrice, now: number): Exclude<Time, "all"> {
  if (now < Date.parse(price.valid_from)) return "later";
  return price.valid_to !== null && Date.parse(price.valid_to) <= now ? "past" : "now";
}

/** For operators: the versions of all prices; new ones are added, and those that have not begun can be withdrawn. */
export function PriceBook() {
  const { common } = useStrings();
  const s = useTenantStrings();
  const f = useFormat();
  const may = useMay("account:read");
  const mayChange = useMay("account:write");
  const { data, error, refetch, dataUpdatedAt: now } = useQuery({ ...priceBook, enabled: may });
  const accounts = useQuery({ ...allAccounts, enabled: may }).data ?? [];
  const [time, setTime] = useState<Time>("all");
  const [adding, setAdding] = useState(false);
  const [leaving, setLeaving] = useState<BookedPrice>();
  if (!may) return <Empty page title={s.prices} text={common.notAllowed} />;
  if (error && !data) return <FailedPage title={s.prices} error={error} retry={() => void refetch()} />;
  const whose = (each: BookedPrice) => (each.account_id ? (accounts.find((one) => one.id === each.account_id)?.name ?? each.account_id) : s.everybody);
  const withdraw = (each: BookedPrice) => timeOf(each, now) === "later" && (
    <Button variant="inline-link" ariaLabel={s.withdrawOf(each.sku, each.region)} onClick={() => setLeaving(each)}>{s.withdraw}</Button>
  );
  return (
    <>
      <LocalTable
        variant="full-page"
        stickyHeader
        trackBy="id"
        title={s.prices}
        items={data?.filter((each) => time === "all" || timeOf(each, now) === time)}
        textOf={(each) => `${each.sku} ${each.region} ${each.source} ${whose(each)}`}
        find={s.findPrices}
        choices={<Choice label={s.time} value={time} options={s.times} onChange={setTime} />}
        none={time === "all" ? <Empty title={s.noPrices} text={s.noPricesText} /> : <Empty title={common.noMatch} text={common.noMatchText} />}
        header={
          <Header
            variant="awsui-h1-sticky"
            description={s.pricesText}
            counter={data && `(${f.number(data.length)})`}
            actions={mayChange && data && <Button variant="primary" onClick={() => setAdding(true)}>{s.addPrice}</Button>}
          >
            {s.prices}
          </Header>
        }
        columnDefinitions={[
          { id: "sku", header: s.article, isRowHeader: true, sortingComparator: byText((each) => `${each.sku} ${each.region} ${each.valid_from}`), cell: (each) => each.sku },
          { id: "region", header: s.region, sortingField: "region", cell: (each) => each.region },
          { id: "minute", header: s.perMinute, sortingComparator: (one, other) => Number(one.unit_price.amount) - Number(other.unit_price.amount), cell: (each) => f.money(each.unit_price, digits(each.unit_price.amount)) },
          { id: "hour", header: s.perHour, cell: (each) => f.money(times(each.unit_price, 60)) },
          { id: "whose", header: s.forWhom, sortingComparator: byText(whose), cell: whose },
          { id: "time", header: s.time, cell: (each) => s.times[timeOf(each, now)] },
          { id: "from", header: s.validFrom, sortingField: "valid_from", cell: (each) => f.moment(each.valid_from) },
          { id: "to", header: s.validTo, sortingField: "valid_to", cell: (each) => (each.valid_to ? f.moment(each.valid_to) : common.none) },
          { id: "source", header: s.source, sortingField: "source", cell: (each) => each.source },
          ...(mayChange ? [{ id: "do", header: common.actions, minWidth: 120, cell: withdraw }] : []),
        ]}
      />
      {adding && data && <AddPrice book={data} onClose={() => setAdding(false)} />}
      {leaving && <Withdraw price={leaving} onClose={() => setLeaving(undefined)} />}
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
