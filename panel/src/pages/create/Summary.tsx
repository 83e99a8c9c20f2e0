import Box from "@cloudscape-design/components/box";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useQuery } from "@tanstack/react-query";
import { HOURS_PER_MONTH, times, type Flavor } from "../../api/catalogue";
import { capacity, flavors, quotas } from "../../api/queries";
import { useProject } from "../../app/Project";
import { useFormat, useStrings } from "../../i18n";
import { usePrices } from "../catalogue/usePrices";
import { BudgetEffect } from "./BudgetEffect";
import type { Draft } from "./draft";
import { ReservedTerms } from "./Reserved";

/** What the present choice costs and leaves, beside the steps; the last step has it exactly, as the API estimates it. */
export function Summary({ draft }: { draft: Draft }) {
  const s = useStrings().create;
  const sold = useQuery({ ...flavors(draft.region), enabled: draft.region !== "" }).data?.items;
  const flavor = sold?.find((each) => each.name === draft.flavor);
  return (
    <section className="summary" aria-label={s.summary}>
      <Container header={<Header variant="h2">{s.summary}</Header>}>
        {draft.reservation ? <ReservedTerms reservation={draft.reservation} /> : flavor ? <Terms flavor={flavor} draft={draft} /> : <Box color="text-body-secondary">{s.summaryNone}</Box>}
      </Container>
    </section>
  );
}

function Terms({ flavor, draft }: { flavor: Flavor; draft: Draft }) {
  const { create: s, clusters, common } = useStrings();
  const f = useFormat();
  const hour = usePrices().of(flavor, draft.region).perHour;
  const room = useQuery(capacity(draft.region)).data?.items.find((each) => each.flavor === flavor.name);
  const quota = useQuery(quotas(useProject())).data?.items.find((each) => each.region === draft.region && each.machine_type === flavor.machine_type);
  const left = (quota?.limit ?? 0) - (quota?.used ?? 0) - flavor.machines;
  const cost = (hours: number) => (hour ? f.money(times(hour, hours)) : common.none);
  return (
    <SpaceBetween size="m">
      <KeyValuePairs
        columns={1}
        items={[
          { label: clusters.flavor, value: flavor.name },
          { label: s.perHour, value: cost(1) },
          { label: s.perDay, value: cost(24) },
          { label: s.perMonth, value: cost(HOURS_PER_MONTH) },
          ...(quota ? [{ label: s.quotaAfter, value: left < 0 ? s.quotaOver(f.number(left + flavor.machines)) : s.quotaLeft(f.number(left), f.number(quota.limit)) }] : []),
          ...(room ? [{ label: s.stock, value: room.available > 0 ? s.stockCount(f.number(room.available)) : s.stockNone }] : []),
        ]}
      />
      <BudgetEffect draft={draft} perHour={hour} />
    </SpaceBetween>
  );
}
