import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import ContentLayout from "@cloudscape-design/components/content-layout";
import Header from "@cloudscape-design/components/header";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useQuery } from "@tanstack/react-query";
import { useParams, useSearchParams } from "react-router";
import { HOURS_PER_MONTH, machineTypes, times, type Flavor } from "../api/catalogue";
import { capacity, flavors, quotas, regions } from "../api/queries";
import { useGo } from "../app/place";
import { useMay, useProject } from "../app/Project";
import { Empty } from "../components/Empty";
import { FailedPage } from "../components/Failure";
import { Loading } from "../components/Loading";
import { To } from "../components/To";
import { useFormat, useStrings } from "../i18n";
import { useCatalogueStrings } from "../i18n/catalogue";
import { createAddress, reserveAddress } from "./catalogue/addresses";
import { MachineFacts } from "./catalogue/MachineFacts";
import { SourceLink } from "./catalogue/SourceLink";
import { Stock } from "./catalogue/Stock";
import { usePrices } from "./catalogue/usePrices";


/** A flavor in a region: its price and stock, its size, and the machines that it consists of. */
export function FlavorPage() {
  const { common } = useStrings();
  const s = useCatalogueStrings();
  const go = useGo();
  const may = useMay("cluster:write");
  const { flavor: name = "" } = useParams();
  const [address] = useSearchParams();
  const { data, error, refetch } = useQuery(flavors(address.get("region") ?? undefined));
  const types = useQuery(machineTypes).data?.items;
  const prices = usePrices();
  if (!data || !prices.ready) return error ? <FailedPage title={name} error={error} retry={() => void refetch()} /> : <Loading />;
  const flavor = data.items.find((each) => each.name === name);
  if (!flavor) return <Empty page title={name} text={common.notFound} action={<To href="/catalogue">{s.title}</To>} />;
  const region = address.get("region") ?? flavor.regions[0] ?? "";
  const type = types?.find((each) => each.id === flavor.machine_type);
  const offered = prices.of(flavor, region).reservedPerHour !== null;
  const actions = may && (
    <SpaceBetween direction="horizontal" size="xs">
      {offered && <Button onClick={() => go(reserveAddress(flavor.name, region))}>{s.reserve}</Button>}
      <Button variant="primary" onClick={() => go(createAddress(flavor.name, region))}>{s.create}</Button>
    </SpaceBetween>
  );
  return (
    <ContentLayout header={<Header variant="h1" actions={actions}>{flavor.name}</Header>} breadcrumbs={<To href={`/catalogue?region=${encodeURIComponent(region)}`}>{s.title}</To>}>
      <SpaceBetween size="l">
        <PriceAndStock flavor={flavor} region={region} />
        <Size flavor={flavor} />
        {type && <MachineFacts type={type} />}
      </SpaceBetween>
    </ContentLayout>
  );
}

function PriceAndStock({ flavor, region }: { flavor: Flavor; region: string }) {
  const { common } = useStrings();
  const s = useCatalogueStrings();
  const f = useFormat();
  const price = usePrices().of(flavor, region);
  const place = useQuery(regions).data?.items.find((each) => each.slug === region)?.name ?? region;
  const room = useQuery(capacity(region)).data?.items.find((each) => each.flavor === flavor.name);
  const held = useQuery({ ...quotas(useProject()), enabled: useProject() !== "" }).data?.items;
  const quota = held?.find((each) => each.region === region && each.machine_type === flavor.machine_type);
  const limit = quota?.limit ?? 0;
  const hour = price.perHour;
  return (
    <Container header={<Header variant="h2">{s.priceAndStock}</Header>}>
      <KeyValuePairs
        columns={4}
        items={[
          { label: s.perMinute, value: price.perMinute ? f.money(price.perMinute, 4) : s.noPrice },
          {
            label: s.perHour,
            value: hour ? <>{f.money(hour)}{price.listPerHour && <Box variant="small" display="block">{s.contract(f.money(price.listPerHour))}</Box>}</> : common.none,
          },
          { label: s.perMonth, value: hour ? <>{f.money(times(hour, HOURS_PER_MONTH))}<Box variant="small" display="block">{s.monthText}</Box></> : common.none },
          { label: s.reservedPerHour, value: price.reservedPerHour ? f.money(price.reservedPerHour) : s.notReservable },
          { label: s.region, value: place },
          { label: s.stock, value: <Stock found={room} why /> },
          ...(held ? [{ label: s.quota, value: s.quotaLeft(f.number(Math.max(0, limit - (quota?.used ?? 0))), f.number(limit)) }] : []),
          { label: s.sku, value: flavor.sku },
        ]}
      />
    </Container>
  );
}

function Size({ flavor }: { flavor: Flavor }) {
  const s = useCatalogueStrings();
  const f = useFormat();
  const { poplar_servers_min: least, poplar_servers_max: most } = flavor;
  return (
    <Container header={<Header variant="h2">{s.size}</Header>}>
      <KeyValuePairs
        columns={4}
        items={[
          { label: s.ipus, value: f.number(flavor.ipus) },
          { label: s.machines, value: `${f.number(flavor.machines)} × ${flavor.machine_type}` },
          { label: s.compute16, value: s.pflops(f.number(flavor.ai_pflops, 2)) },
          { label: s.memory, value: s.gigabytes(f.number(flavor.in_processor_memory_gb, 1)) },
          { label: s.servers, value: most > least ? s.serversUpTo(f.number(least), f.number(most)) : f.number(least) },
          ...(flavor.pod ? [{ label: s.pod, value: flavor.pod.toUpperCase() }] : []),
          { label: s.allocatedThrough, value: s.through[flavor.allocated_through] },
          { label: s.source, value: <SourceLink source={flavor.source} /> },
        ]}
      />
    </Container>
  );
}
