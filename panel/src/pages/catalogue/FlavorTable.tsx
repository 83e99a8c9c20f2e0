import Button from "@cloudscape-design/components/button";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Table, { type TableProps } from "@cloudscape-design/components/table";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useSearchParams } from "react-router";
import type { Flavor } from "../../api/catalogue";
import { capacity, flavors, regions } from "../../api/queries";
import { useGo } from "../../app/place";
import { useMay } from "../../app/Project";
import { amount } from "../../components/amount";
import { Choice } from "../../components/Choice";
import { Empty } from "../../components/Empty";
import { Failure } from "../../components/Failure";
import { To } from "../../components/To";
import { useFormat, useStrings } from "../../i18n";
import { useCatalogueStrings } from "../../i18n/catalogue";
import { addressOf, createAddress } from "./addresses";
import { SORTED, sorted, type Sorted } from "./sorting";
import { Stock } from "./Stock";
import { usePrices } from "./usePrices";

const ALL = "all";

/** The flavors of a region with their facts, prices and stock. */
export function FlavorTable() {
  const { common } = useStrings();
  const s = useCatalogueStrings();
  const f = useFormat();
  const [address, setAddress] = useSearchParams();
  const places = useQuery(regions).data?.items ?? [];
  const region = address.get("region") ?? places[0]?.slug ?? "";
  const type = address.get("type") ?? ALL;
  const { data, error, isPending, refetch } = useQuery({ ...flavors(region), enabled: region !== "" });
  const prices = usePrices();
  const [order, setOrder] = useState<{ by: Sorted; descending: boolean }>({ by: "ipus", descending: false });
  const columns = useFlavorColumns(region);
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  const found = (data?.items ?? []).filter((each) => type === ALL || each.machine_type === type);
  const price = (flavor: Flavor) => {
    const { perHour } = prices.of(flavor, region);
    return perHour ? Number(perHour.amount) : undefined;
  };
  const types = [...new Set(places.flatMap((each) => (each.slug === region ? each.machine_types : [])))];
  return (
    <Table
      variant="container"
      wrapLines
      trackBy="name"
      items={sorted(found, order.by, order.descending, price)}
      loading={isPending || !prices.ready}
      loadingText={common.loading}
      ariaLabels={{ tableLabel: s.flavors }}
      header={<Header variant="h2" counter={data && `(${f.number(found.length)})`}>{s.flavors}</Header>}
      filter={
        <SpaceBetween direction="horizontal" size="xs">
          <Choice
            label={s.region}
            value={region}
            options={Object.fromEntries(places.map((each) => [each.slug, each.name]))}
            onChange={(value) => setAddress({ region: value }, { replace: true })}
          />
          <Choice
            label={s.machineType}
            value={type}
            options={{ [ALL]: s.allTypes, ...Object.fromEntries(types.map((each) => [each, each])) }}
            onChange={(value) => setAddress({ region, ...(value !== ALL && { type: value }) }, { replace: true })}
          />
        </SpaceBetween>
      }
      columnDefinitions={columns}
      sortingColumn={{ sortingField: order.by }}
      sortingDescending={order.descending}
      onSortingChange={({ detail }) => {
        const by = SORTED.find((each) => each === detail.sortingColumn.sortingField) ?? "ipus";
        setOrder({ by, descending: detail.isDescending ?? false });
      }}
      empty={<Empty title={s.none} text={s.noneText} />}
    />
  );
}

function useFlavorColumns(region: string): TableProps.ColumnDefinition<Flavor>[] {
  const { common } = useStrings();
  const s = useCatalogueStrings();
  const f = useFormat();
  const go = useGo();
  const may = useMay("cluster:write");
  const prices = usePrices();
  const room = useQuery(capacity(region)).data?.items;
  const servers = (each: Flavor) => (each.poplar_servers_max > each.poplar_servers_min
    ? s.serversUpTo(f.number(each.poplar_servers_min), f.number(each.poplar_servers_max)) : f.number(each.poplar_servers));
  const create = (each: Flavor) => (
    <Button variant="inline-link" ariaLabel={s.createOf(each.name)} onClick={() => go(createAddress(each.name, region))}>{common.create}</Button>
  );
  return [
    { id: "name", header: s.flavor, minWidth: 140, sortingField: "name", isRowHeader: true, cell: (each) => <To href={addressOf(each.name, region)}>{each.name}</To> },
    { id: "ipus", header: s.ipus, sortingField: "ipus", cell: (each) => f.number(each.ipus) },
    { id: "price", header: amount(s.perHour), sortingField: "price", cell: (each) => amount(money(prices.of(each, region).perHour) ?? common.none) },
    { id: "stock", header: s.stock, minWidth: 170, cell: (each) => <Stock found={room?.find((other) => other.flavor === each.name)} /> },
    { id: "compute", header: s.compute, sortingField: "ai_pflops", cell: (each) => s.pflops(f.number(each.ai_pflops, 2)) },
    { id: "memory", header: s.memory, sortingField: "in_processor_memory_gb", cell: (each) => s.gigabytes(f.number(each.in_processor_memory_gb, 1)) },
    { id: "machines", header: s.machines, sortingField: "machines", cell: (each) => f.number(each.machines) },
    { id: "servers", header: s.servers, cell: servers },
    ...(may ? [{ id: "do", header: common.actions, cell: create }] : []),
  ];

  function money(amount: { amount: string; currency: string } | null) {
    return amount && f.money(amount);
  }
}
