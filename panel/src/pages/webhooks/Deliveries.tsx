import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import SpaceBetween from "@cloudscape-design/components/space-between";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { deliveryPage, redeliver, type Delivery } from "../../api/access";
import type { Schemas } from "../../api/client";
import { useFlash } from "../../app/Flashes";
import { useMay, useProject } from "../../app/Project";
import { Copyable } from "../../components/Copyable";
import { Empty } from "../../components/Empty";
import { Failure } from "../../components/Failure";
import { Notice } from "../../components/Notice";
import { PagedTable, useView } from "../../components/PagedTable";
import { useChange } from "../../components/useChange";
import { useFormat, useStrings } from "../../i18n";
import { useWebhookStrings } from "../../i18n/webhooks";
import { useEventName } from "./WebhookState";

const KIND = { pending: "pending", delivered: "success", failed: "error" } as const;
type Shown = "all" | Schemas["DeliveryState"];

/** What was sent to a webhook, newest first. */
export function Deliveries({ webhook }: { webhook: string }) {
  const { common } = useStrings();
  const s = useWebhookStrings();
  const f = useFormat();
  const view = useView<Shown>("all");
  const query = { state: view.shown === "all" ? undefined : view.shown, order: view.order, limit: 20, cursor: view.pages.cursor };
  const list = useQuery(deliveryPage(useProject(), webhook, query));
  const [looking, setLooking] = useState<string>();
  const name = useEventName();
  const result = useResult();
  const looked = list.data?.items.find((each) => each.id === looking);
  return (
    <>
      <PagedTable
        title={s.deliveries}
        text={s.deliveriesText}
        view={view}
        options={s.shown}
        list={list}
        none={<Empty title={s.noDeliveries} text={s.noDeliveriesText} />}
        columns={[
          { id: "type", header: s.type, isRowHeader: true, cell: (each) => name(each.type) },
          { id: "state", header: common.state, minWidth: 140, cell: (each) => <StatusIndicator type={KIND[each.state]}>{s.states[each.state]}</StatusIndicator> },
          { id: "attempts", header: s.attempts, cell: (each) => f.number(each.tries.length) },
          { id: "result", header: s.result, cell: (each) => result(each.tries.at(-1)) },
          { id: "next", header: s.next, cell: (each) => (each.next_try_at ? f.moment(each.next_try_at) : common.none) },
          { id: "created", header: common.created, sortingField: "created_at", cell: (each) => f.moment(each.created_at) },
          {
            id: "actions", header: common.actions,
            cell: (each) => (
              <SpaceBetween direction="horizontal" size="xs">
                <Button variant="inline-link" ariaLabel={s.lookAt(name(each.type))} onClick={() => setLooking(each.id)}>{s.look}</Button>
                <Redeliver webhook={webhook} delivery={each} />
              </SpaceBetween>
            ),
          },
        ]}
      />
      {looked && <Message delivery={looked} onClose={() => setLooking(undefined)} />}
    </>
  );
}

/** What came of an attempt. */
function useResult(): (attempt: Schemas["DeliveryAttempt"] | undefined) => string {
  const { common } = useStrings();
  const s = useWebhookStrings();
  return (attempt) => {
    if (!attempt) return common.none;
    const status = attempt.status === null ? [] : [s.status(String(attempt.status))];
    return [...status, ...(attempt.failure ? [s.failures[attempt.failure]] : [])].join(", ");
  };
}

function Redeliver({ webhook, delivery }: { webhook: string; delivery: Delivery }) {
  const s = useWebhookStrings();
  const name = useEventName();
  const flash = useFlash();
  const project = useProject();
  const may = useMay("webhook:write");
  const run = useChange(() => redeliver(project, webhook, delivery.id), () => flash({ type: "success", content: s.redelivered }));
  if (!may) return null;
  return (
    <>
      <Button variant="inline-link" loading={run.isPending} ariaLabel={`${s.redeliver}: ${name(delivery.type)}`} onClick={() => run.mutate()}>{s.redeliver}</Button>
      <Failure error={run.error} />
    </>
  );
}

/** A message with its attempts, as it is sent. */
function Message({ delivery, onClose }: { delivery: Delivery; onClose: () => void }) {
  const s = useWebhookStrings();
  const f = useFormat();
  const name = useEventName();
  const result = useResult();
  return (
    <Notice large title={name(delivery.type)} onClose={onClose}>
      <div><Box variant="awsui-key-label">{s.messageId}</Box><Copyable text={delivery.message_id} label={s.messageId} /></div>
      <div>
        <Box variant="awsui-key-label">{s.attempts}</Box>
        {delivery.tries.length === 0 && s.noAttempts}
        {delivery.tries.map((each) => <div key={each.at}>{s.attempt(f.second(each.at), result(each), f.milliseconds(each.seconds))}</div>)}
      </div>
      <div><Box variant="awsui-key-label">{s.payload}</Box><pre className="request" tabIndex={0} role="region" aria-label={s.payload}>{JSON.stringify(delivery.payload, null, 2)}</pre></div>
    </Notice>
  );
}
