import Button from "@cloudscape-design/components/button";
import Header from "@cloudscape-design/components/header";
import StatusIndicator, { type StatusIndicatorProps } from "@cloudscape-design/components/status-indicator";
import { useQuery } from "@tanstack/react-query";
import { api, type Schemas } from "../../api/client";
import { quotaRequests } from "../../api/queries";
import { useFlash } from "../../app/Flashes";
import { useMay, useProject } from "../../app/Project";
import { Choice, optionsOf } from "../../components/Choice";
import { Empty } from "../../components/Empty";
import { Failure } from "../../components/Failure";
import { ListTable } from "../../components/ListTable";
import { BY_AGE, oneOf, useListView } from "../../components/useListView";
import { useChange } from "../../components/useChange";
import { useQuotaWords } from "../../components/useQuotaWords";
import { useFormat, useStrings } from "../../i18n";

const KINDS: Record<Schemas["QuotaRequestState"], StatusIndicatorProps.Type> = {
  open: "pending", granted: "success", declined: "warning", withdrawn: "stopped",
};

const STATES = ["open", "granted", "declined", "withdrawn"] as const;

export function RequestState({ state }: { state: Schemas["QuotaRequestState"] }) {
  return <StatusIndicator type={KINDS[state]}>{useStrings().quotas.states[state]}</StatusIndicator>;
}

/** What the project asked for, newest first, and what the operator decided. */
export function QuotaRequests() {
  const { common, quotas: s } = useStrings();
  const f = useFormat();
  const words = useQuotaWords();
  const may = useMay("cluster:write");
  const view = useListView(["state"], BY_AGE);
  const state = oneOf(STATES, view.value("state"));
  const { data, error, refetch } = useQuery(quotaRequests(useProject(), { state: state && [state], order: view.order, limit: 20, cursor: view.pages.cursor }));
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  return (
    <ListTable
      variant="container"
      title={s.requests}
      view={view}
      page={data}
      filters={<Choice label={common.state} value={state ?? ""} options={optionsOf(common.all, STATES, s.states)} onChange={(value) => view.filter("state", value)} />}
      header={<Header variant="h2">{s.requests}</Header>}
      columnDefinitions={[
        { id: "what", header: s.wanted, isRowHeader: true, cell: (each) => words(each) },
        { id: "state", header: common.state, cell: (each) => <RequestState state={each.state} /> },
        { id: "granted", header: s.granted, cell: (each) => (each.granted_limit === null ? common.none : f.number(each.granted_limit)) },
        { id: "reason", header: s.reason, cell: (each) => each.reason },
        { id: "answer", header: s.answer, cell: (each) => each.answer ?? common.none },
        { id: "created", header: s.asked, sortingField: "created_at", cell: (each) => f.moment(each.created_at) },
        ...(may ? [{ id: "do", header: common.actions, cell: (each: Schemas["QuotaRequest"]) => each.state === "open" && <Withdraw request={each} /> }] : []),
      ]}
      none={<Empty title={s.noRequests} text={s.noRequestsText} />}
    />
  );
}

function Withdraw({ request }: { request: Schemas["QuotaRequest"] }) {
  const s = useStrings().quotas;
  const flash = useFlash();
  const project = useProject();
  const run = useChange(
    () => api.POST("/v1/projects/{project}/quota-requests/{quota_request}:withdraw", { params: { path: { project, quota_request: request.id } } }),
    () => flash({ type: "success", content: s.withdrawn }),
  );
  return (
    <>
      <Button variant="inline-link" loading={run.isPending} ariaLabel={`${s.withdraw}: ${request.machine_type}, ${request.region}`} onClick={() => run.mutate()}>
        {s.withdraw}
      </Button>
      <Failure error={run.error} />
    </>
  );
}
