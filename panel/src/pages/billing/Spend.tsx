import Alert from "@cloudscape-design/components/alert";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import Select from "@cloudscape-design/components/select";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useQuery } from "@tanstack/react-query";
import { useSearchParams } from "react-router";
import { spend, type Summary } from "../../api/billing";
import { useBillingScope } from "../../app/useBillingScope";
import { Failure } from "../../components/Failure";
import { Loading } from "../../components/Loading";
import { useFormat, useStrings } from "../../i18n";
import { lastMonths } from "./months";
import { SpendChart } from "./SpendChart";
import { ClusterSpend, TagSpend } from "./SpendTables";

/** What a month has cost so far, on what, and what it will. */
export function Spend() {
  const s = useStrings().billing;
  const f = useFormat();
  const [address, setAddress] = useSearchParams();
  const month = address.get("month") ?? undefined;
  const { data, error, refetch } = useQuery(spend(useBillingScope(), month));
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  if (!data) return <Loading />;
  const months = lastMonths(data.observed_at).map((value) => ({ value, label: f.month(`${value}-01T00:00:00Z`) }));
  return (
    <SpaceBetween size="l">
      {data.unpriced_minutes > 0 && <Alert type="warning">{s.unpriced(f.number(data.unpriced_minutes))}</Alert>}
      {data.unusual_days.map((each) => (
        <Alert key={each.day} type="info">{s.unusual(f.day(each.day), f.money(each.cost), f.money(each.usual))}</Alert>
      ))}
      <Container
        header={
          <Header
            variant="h2"
            description={s.observed(f.moment(data.observed_at))}
            actions={
              <Select
                ariaLabel={s.month}
                selectedOption={months.find((each) => each.value === data.month) ?? { value: data.month, label: f.month(data.since) }}
                options={months}
                onChange={({ detail }) => setAddress({ month: detail.selectedOption.value ?? data.month }, { replace: true })}
              />
            }
          >
            {f.month(data.since)}
          </Header>
        }
      >
        <Figures summary={data} />
      </Container>
      <SpendChart key={data.month} summary={data} />
      <ClusterSpend summary={data} />
      <TagSpend summary={data} />
    </SpaceBetween>
  );
}

function Figures({ summary }: { summary: Summary }) {
  const { billing: s, common } = useStrings();
  const f = useFormat();
  const { tax, balances } = summary;
  const ahead = summary.until <= summary.observed_at ? [] : [
    { label: s.forecast, value: f.money(summary.forecast) },
    { label: s.perHour, value: f.money(summary.per_hour) },
  ];
  return (
    <KeyValuePairs
      columns={4}
      items={[
        { label: ahead.length ? s.accrued : s.cost, value: f.money(summary.accrued) },
        ...ahead,
        { label: s.previousUntil, value: f.money(summary.previous.accrued) },
        { label: tax ? s.tax(tax.name, f.percent(Number(tax.rate))) : s.noTax, value: tax ? f.money(tax.on_accrued) : common.none },
        { label: s.credit, value: f.money(summary.credit) },
        ...balances.flatMap((each) => [
          { label: s.wallet, value: f.money(each.wallet) },
          { label: s.outstanding, value: f.money(each.outstanding) },
        ]),
      ]}
    />
  );
}
