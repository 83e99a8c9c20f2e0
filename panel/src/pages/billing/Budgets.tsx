import Button from "@cloudscape-design/components/button";
import Header from "@cloudscape-design/components/header";
import ProgressBar from "@cloudscape-design/components/progress-bar";
import SpaceBetween from "@cloudscape-design/components/space-between";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { budgets, type Budget } from "../../api/billing";
import { useMay } from "../../app/Project";
import { useBillingScope } from "../../app/useBillingScope";
import { amount } from "../../components/amount";
import { Empty } from "../../components/Empty";
import { Failure } from "../../components/Failure";
import { Find, ListTable } from "../../components/ListTable";
import { later } from "../../components/later";
import { BY_NAME, useListView } from "../../components/useListView";
import { useFormat, useStrings } from "../../i18n";
import { useBudgetStrings } from "../../i18n/money";

const EditBudget = later(async () => (await import("./EditBudget")).EditBudget, null);
const DeleteBudget = later(async () => (await import("./DeleteBudget")).DeleteBudget, null);

/** Budgets with this month's cost and forecast. */
export function Budgets() {
  const { billing: b, common } = useStrings();
  const s = useBudgetStrings();
  const f = useFormat();
  const scope = useBillingScope();
  const may = useMay("budget:write") && "project" in scope;
  const view = useListView(["q"], BY_NAME);
  const { data, error, refetch } = useQuery(budgets(scope, { q: view.value("q"), order: view.order }));
  const [asked, setAsked] = useState<{ what: "create" } | { what: "edit" | "delete"; budget: Budget }>();
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  const create = may && <Button variant="primary" onClick={() => setAsked({ what: "create" })}>{s.create}</Button>;
  const close = () => setAsked(undefined);
  return (
    <>
      <ListTable
        variant="container"
        title={b.budgets}
        view={view}
        page={data}
        filters={<Find label={s.find} value={view.value("q")} onChange={(text) => view.filter("q", text)} />}
        none={<Empty title={s.none} text={s.noneText} />}
        header={<Header variant="h2" description={s.text} actions={create}>{b.budgets}</Header>}
        columnDefinitions={[
          { id: "name", header: common.name, isRowHeader: true, sortingField: "name", cell: (each) => each.name },
          { id: "covers", header: s.covers, cell: (each) => (each.tag ? s.ofTag(`${each.tag.key}=${each.tag.value}`) : s.scopes[each.scope]) },
          { id: "amount", header: amount(s.amount), cell: (each) => amount(f.money(each.amount)) },
          { id: "actual", header: s.actual, minWidth: 180, cell: (each) => <Used budget={each} /> },
          { id: "forecast", header: amount(b.forecast), cell: (each) => amount(each.forecast ? f.money(each.forecast) : s.later) },
          { id: "thresholds", header: s.thresholds, minWidth: 200, cell: (each) => <Thresholds budget={each} /> },
          ...(may ? [{
            id: "actions", header: common.actions,
            cell: (each: Budget) => each.scope !== "account" && (
              <SpaceBetween direction="horizontal" size="xs">
                <Button variant="inline-link" ariaLabel={`${common.edit}: ${each.name}`} onClick={() => setAsked({ what: "edit", budget: each })}>{common.edit}</Button>
                <Button variant="inline-link" ariaLabel={`${common.remove}: ${each.name}`} onClick={() => setAsked({ what: "delete", budget: each })}>{common.remove}</Button>
              </SpaceBetween>
            ),
          }] : []),
        ]}
      />
      {asked?.what === "create" && <EditBudget onClose={close} />}
      {asked?.what === "edit" && <EditBudget budget={asked.budget} onClose={close} />}
      {asked?.what === "delete" && <DeleteBudget budget={asked.budget} onClose={close} />}
    </>
  );
}

function Used({ budget }: { budget: Budget }) {
  const s = useBudgetStrings();
  const f = useFormat();
  if (!budget.actual) return <>{s.later}</>;
  const share = Number(budget.actual.amount) / Number(budget.amount.amount);
  return (
    <>
      <ProgressBar ariaLabel={budget.name} value={Math.min(100, 100 * share)} status="in-progress" additionalInfo={`${f.money(budget.actual)} (${f.percent(share)})`} />
      {budget.refuses_creates && <StatusIndicator type="warning">{s.refuses}</StatusIndicator>}
    </>
  );
}

function Thresholds({ budget }: { budget: Budget }) {
  const s = useBudgetStrings();
  const f = useFormat();
  return budget.thresholds.map((each) => {
    const text = s.threshold(f.percent(each.percent / 100), s.on[each.on], each.action ? s.actions[each.action] : "");
    return (
      <div key={each.on + each.percent}>
        {each.reached_at ? <StatusIndicator type="warning">{`${text}, ${s.reached(f.moment(each.reached_at))}`}</StatusIndicator> : text}
      </div>
    );
  });
}
