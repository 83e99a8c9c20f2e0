import Box from "@cloudscape-design/components/box";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import ProgressBar from "@cloudscape-design/components/progress-bar";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useQuery } from "@tanstack/react-query";
import { spend } from "../../api/billing";
import { useBillingScope } from "../../app/useBillingScope";
import { Failure } from "../../components/Failure";
import { Loading } from "../../components/Loading";
import { To } from "../../components/To";
import { useFormat, useStrings } from "../../i18n";

/** The month's cost so far and as it will be, against the project's budgets. */
export function SpendNow() {
  const s = useStrings().home;
  const f = useFormat();
  const { data, error, refetch } = useQuery(spend(useBillingScope()));
  return (
    <Container header={<Header variant="h2" description={data && f.month(data.since)} actions={<To href="/billing">{s.toBilling}</To>}>{s.spend}</Header>}>
      {data ? (
        <SpaceBetween size="m">
          <KeyValuePairs
            columns={2}
            items={[
              { label: s.accrued, value: f.money(data.accrued) },
              { label: s.forecast, value: f.money(data.forecast) },
              { label: s.perHour, value: f.money(data.per_hour) },
              { label: s.previous, value: f.money(data.previous.accrued) },
            ]}
          />
          {data.budgets.length === 0 && <Box color="text-body-secondary">{s.noBudget}</Box>}
          {data.budgets.map((budget) => {
            const actual = budget.actual ?? { amount: "0", currency: budget.amount.currency };
            const share = Number(actual.amount) / Number(budget.amount.amount);
            return (
              <ProgressBar
                key={budget.id}
                label={s.budget(budget.name, f.money(budget.amount))}
                value={Math.min(100, 100 * share)}
                status="in-progress"
                additionalInfo={s.budgetUsed(`${f.money(actual)} (${f.percent(share)})`)}
              />
            );
          })}
        </SpaceBetween>
      ) : error ? <Failure error={error} retry={() => void refetch()} /> : <Loading />}
    </Container>
  );
}
