import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Checkbox from "@cloudscape-design/components/checkbox";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Tabs from "@cloudscape-design/components/tabs";
import { useQuery } from "@tanstack/react-query";
import type { Schemas } from "../../api/client";
import { estimate } from "../../api/queries";
import { useProject } from "../../app/Project";
import { Copyable } from "../../components/Copyable";
import { Failure } from "../../components/Failure";
import { Loading } from "../../components/Loading";
import { later } from "../../components/later";
import { useFormat, useStrings } from "../../i18n";
import { BudgetEffect } from "./BudgetEffect";
import { asCommand, asCurl, asPython, requestOf, type Change, type Draft } from "./draft";

const ReservedTerms = later(async () => (await import("./Reserved")).ReservedTerms);
const Alternatives = later(async () => (await import("./Alternatives")).Alternatives, null);

export function ReviewStep({ draft, change, problem }: { draft: Draft; change: Change; problem: unknown }) {
  const { clusters, cluster, common, create } = useStrings();
  const f = useFormat();
  const tags = draft.tags.filter((tag) => tag.key).map((tag) => `${tag.key}=${tag.value}`).join(", ");
  return (
    <SpaceBetween size="l">
      <Failure error={problem} />
      <Container header={<Header variant="h2">{draft.name.trim()}</Header>}>
        <KeyValuePairs
          columns={3}
          items={[
            { label: clusters.region, value: draft.region },
            { label: clusters.flavor, value: draft.flavor },
            ...(draft.servers ? [{ label: create.servers, value: f.number(draft.servers) }] : []),
            { label: cluster.image, value: draft.image },
            { label: cluster.keys, value: f.list(draft.keys) },
            { label: cluster.tags, value: tags || common.none },
            ...(requestOf(draft).allowed_sources ? [{ label: cluster.sources, value: f.list(requestOf(draft).allowed_sources ?? []) }] : []),
            ...(draft.buckets.length ? [{ label: cluster.buckets, value: f.list(draft.buckets) }] : []),
            ...(draft.volumes.length ? [{ label: cluster.volumes, value: f.list(draft.volumes) }] : []),
            ...(draft.expires ? [{ label: create.expires, value: f.moment(draft.expires) }] : []),
            { label: cluster.protection, value: draft.protect ? common.yes : common.no },
          ]}
        />
      </Container>
      {draft.reservation ? <ReservedTerms reservation={draft.reservation} /> : <Estimated draft={draft} change={change} />}
      <Elsewhere draft={draft} />
    </SpaceBetween>
  );
}

/** What it costs and whether it fits, else what does. */
function Estimated({ draft, change }: { draft: Draft; change: Change }) {
  const s = useStrings().create;
  const f = useFormat();
  const project = useProject();
  const { data, error, refetch } = useQuery(estimate(project, requestOf(draft)));
  // Where it is not offered, the estimate is refused.
  const preemptible = useQuery({ ...estimate(project, requestOf({ ...draft, preemptible: true })), retry: false }).data;
  if (!data) return error ? <Failure error={error} retry={() => void refetch()} /> : <Loading />;
  const fits = data.quota.allowed && data.capacity.available;
  return (
    <SpaceBetween size="l">
      <Price estimate={data} draft={draft} />
      {(draft.wait || (data.quota.allowed && !data.capacity.available)) && (
        <Checkbox checked={draft.wait} onChange={({ detail }) => change({ wait: detail.checked })} description={s.waitText}>{s.wait}</Checkbox>
      )}
      {(draft.preemptible || preemptible) && (
        <Checkbox
          checked={draft.preemptible}
          onChange={({ detail }) => change({ preemptible: detail.checked })}
          description={s.preemptibleText(preemptible ? f.money(preemptible.price_per_hour) : undefined)}
        >
          {s.preemptible}
        </Checkbox>
      )}
      {!fits && <Alternatives draft={draft} change={change} />}
    </SpaceBetween>
  );
}

function Price({ estimate: found, draft }: { estimate: Schemas["Estimate"]; draft: Draft }) {
  const s = useStrings().create;
  const f = useFormat();
  const { capacity, quota } = found;
  return (
    <Container header={<Header variant="h2">{s.price}</Header>}>
      <SpaceBetween size="m">
        <KeyValuePairs
          columns={4}
          items={[
            { label: s.perHour, value: f.money(found.price_per_hour) },
            { label: s.perDay, value: f.money(found.price_per_day) },
            { label: s.perMonth, value: f.money(found.price_per_month) },
            { label: s.ready, value: f.duration(found.expected_seconds) },
            { label: s.billed, value: s.billedFrom[found.billing.starts] },
          ]}
        />
        <BudgetEffect draft={draft} perHour={found.price_per_hour} />
        {found.warnings.map((each) => <Alert key={each.code} type="warning">{each.detail}</Alert>)}
        {!quota.allowed && <Alert type="warning">{s.noQuota(f.number(quota.needed), f.number(Math.max(0, quota.limit - quota.used)))}</Alert>}
        {!capacity.available && capacity.why_not && <Alert type="warning">{capacity.why_not.detail}</Alert>}
        {quota.allowed && capacity.available && <Alert type="success">{s.fits}</Alert>}
      </SpaceBetween>
    </Container>
  );
}

/** The same request as a command, over HTTP and in Python. */
function Elsewhere({ draft }: { draft: Draft }) {
  const s = useStrings().create;
  const project = useProject();
  const forms = [
    { id: "cli", label: "CLI", text: asCommand(draft) },
    { id: "curl", label: "curl", text: asCurl(draft, project, location.origin) },
    { id: "python", label: "Python", text: asPython(draft, project, location.origin) },
  ];
  return (
    <Container header={<Header variant="h2" description={s.requestText}>{s.request}</Header>}>
      <Tabs
        ariaLabel={s.request}
        tabs={forms.map(({ id, label, text }) => ({
          id, label,
          content: <Box><Copyable text={text} label={label} hidden /><pre className="request" tabIndex={0} aria-label={label}>{text}</pre></Box>,
        }))}
      />
    </Container>
  );
}
