import Cards, { type CardsProps } from "@cloudscape-design/components/cards";
import FormField from "@cloudscape-design/components/form-field";
import Header from "@cloudscape-design/components/header";
import Select from "@cloudscape-design/components/select";
import SpaceBetween from "@cloudscape-design/components/space-between";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { useQuery } from "@tanstack/react-query";
import type { Schemas } from "../../api/client";
import { capacity, flavors, quotas, regions } from "../../api/queries";
import { useProject } from "../../app/Project";
import { Failure } from "../../components/Failure";
import { later } from "../../components/later";
import { useFormat, useStrings } from "../../i18n";
import type { Change, Draft } from "./draft";

const ReservationChoice = later(async () => (await import("./Reserved")).ReservationChoice, null);

type Props = { draft: Draft; change: Change; problem?: string };
type Flavor = Schemas["Flavor"];

/** Where, and how large; a reservation has both. */
export function SizeStep(props: Props) {
  const { draft, change } = props;
  return (
    <SpaceBetween size="l">
      <ReservationChoice draft={draft} change={change} />
      {!draft.reservation && <Sizes {...props} />}
    </SpaceBetween>
  );
}

function Sizes({ draft, change, problem }: Props) {
  const { clusters, common } = useStrings();
  const f = useFormat();
  const places = useQuery(regions);
  const sold = useQuery({ ...flavors(draft.region), enabled: draft.region !== "" });
  const sections = useSections(draft.region);
  const items = sold.data?.items ?? [];
  const chosen = items.find((each) => each.name === draft.flavor);
  const options = (places.data?.items ?? []).map((each) => ({ value: each.slug, label: each.name, description: each.country }));
  return (
    <SpaceBetween size="l">
      <FormField label={clusters.region}>
        <Select
          options={options}
          selectedOption={options.find((each) => each.value === draft.region) ?? null}
          onChange={({ detail }) => change({ region: detail.selectedOption.value ?? "", flavor: "", servers: undefined, image: "", volumes: [] })}
        />
      </FormField>
      <Failure error={places.error ?? sold.error} />
      <FormField stretch errorText={problem}>
        <Cards
          trackBy="name"
          items={items}
          loading={sold.isPending}
          loadingText={common.loading}
          selectionType="single"
          entireCardClickable
          selectedItems={items.filter((each) => each.name === draft.flavor)}
          onSelectionChange={({ detail }) => change({ flavor: detail.selectedItems[0]?.name ?? "", servers: undefined })}
          cardsPerRow={[{ cards: 1 }, { minWidth: 500, cards: 2 }, { minWidth: 900, cards: 3 }]}
          ariaLabels={{ itemSelectionLabel: (_, each) => common.select(each.name), selectionGroupLabel: clusters.flavor, cardsLabel: clusters.flavor }}
          header={<Header variant="h2">{clusters.flavor}</Header>}
          cardDefinition={{ header: (each) => `${each.name}: ${f.number(each.ipus)} IPUs`, sections }}
        />
      </FormField>
      {chosen && chosen.poplar_servers_max > chosen.poplar_servers_min && <Servers flavor={chosen} draft={draft} change={change} />}
    </SpaceBetween>
  );
}

/** How many Poplar servers, where the flavor leaves a choice. */
function Servers({ flavor, draft, change }: { flavor: Flavor; draft: Draft; change: Change }) {
  const s = useStrings().create;
  const f = useFormat();
  const numbers = Array.from({ length: flavor.poplar_servers_max - flavor.poplar_servers_min + 1 }, (_, index) => flavor.poplar_servers_min + index);
  const options = numbers.map((number) => ({ value: String(number), label: f.number(number) }));
  return (
    <FormField label={s.servers} description={s.serversText}>
      <Select
        options={options}
        selectedOption={options.find((each) => each.value === String(draft.servers ?? flavor.poplar_servers)) ?? null}
        onChange={({ detail }) => change({ servers: Number(detail.selectedOption.value) })}
      />
    </FormField>
  );
}

function useSections(region: string): CardsProps.SectionDefinition<Flavor>[] {
  const { common, create: s } = useStrings();
  const f = useFormat();
  const room = useQuery(capacity(region)).data?.items;
  const held = useQuery(quotas(useProject())).data?.items;
  const stock = (flavor: Flavor) => {
    const found = room?.find((each) => each.flavor === flavor.name);
    if (!found) return common.none;
    return found.available > 0
      ? <StatusIndicator type="success">{s.stockCount(f.number(found.available))}</StatusIndicator>
      : <div className="words"><StatusIndicator type="warning">{`${s.stockNone}. ${found.why_not?.detail ?? ""}`}</StatusIndicator></div>;
  };
  const quota = (flavor: Flavor) => {
    const found = held?.find((each) => each.machine_type === flavor.machine_type && each.region === region);
    const limit = found?.limit ?? 0;
    const left = Math.max(0, limit - (found?.used ?? 0));
    return left >= flavor.machines
      ? s.quotaLeft(f.number(left), f.number(limit))
      : <div className="words"><StatusIndicator type="warning">{s.quotaOver(f.number(left))}</StatusIndicator></div>;
  };
  return [
    { id: "price", header: s.perHour, width: 50, content: (each) => (each.price_per_hour ? f.money(each.price_per_hour) : common.none) },
    { id: "compute", header: s.performance, width: 50, content: (each) => s.pflops(f.number(each.ai_pflops, 1)) },
    { id: "machines", header: s.machines, width: 50, content: (each) => f.number(each.machines) },
    { id: "quota", header: s.quota, width: 50, content: quota },
    { id: "stock", header: s.stock, content: stock },
  ];
}
