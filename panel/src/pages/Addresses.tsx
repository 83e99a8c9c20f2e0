import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import ButtonDropdown from "@cloudscape-design/components/button-dropdown";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import Table from "@cloudscape-design/components/table";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { addressPage, ADDRESS_SKU, type Address } from "../api/addresses";
import { projectPrices } from "../api/catalogue";
import type { Schemas } from "../api/client";
import { regions } from "../api/queries";
import { useMay, useProject } from "../app/Project";
import { Choice } from "../components/Choice";
import { Copyable } from "../components/Copyable";
import { Empty } from "../components/Empty";
import { FailedPage } from "../components/Failure";
import { later } from "../components/later";
import { useView } from "../components/PagedTable";
import { Pager } from "../components/Pager";
import { To } from "../components/To";
import { useFormat, useStrings } from "../i18n";
import { useAddressStrings } from "../i18n/addresses";

const CreateAddress = later(async () => (await import("./addresses/CreateAddress")).CreateAddress, null);
const AddressAction = later(async () => (await import("./addresses/AddressAction")).AddressAction, null);

const OPEN: Schemas["AddressState"][] = ["creating", "available", "attaching", "attached", "detaching", "deleting", "error"];
const FILTERS = { all: undefined, open: OPEN, deleted: ["deleted"] satisfies Schemas["AddressState"][] };
const KIND = {
  creating: "in-progress", available: "success", attaching: "in-progress", attached: "success", detaching: "in-progress",
  deleting: "in-progress", deleted: "stopped", error: "error",
} as const;

export type Action = "attach" | "detach" | "sources" | "delete";

/** The project's public addresses. */
export function Addresses() {
  const { common } = useStrings();
  const s = useAddressStrings();
  const project = useProject();
  const may = useMay("cluster:write");
  const view = useView<keyof typeof FILTERS>("open");
  const { data, error, isPending, refetch } = useQuery(addressPage(project, { state: FILTERS[view.shown], order: view.order, limit: 50, cursor: view.pages.cursor }));
  const prices = useQuery(projectPrices(project)).data?.items;
  const offered = prices?.filter((each) => each.sku === ADDRESS_SKU) ?? [];
  const [creating, setCreating] = useState(false);
  const [asked, setAsked] = useState<{ address: Address; action: Action }>();
  const columns = useColumns((address, action) => setAsked({ address, action }));
  if (error && !data) return <FailedPage title={s.title} error={error} retry={() => void refetch()} />;
  const create = may && offered.length > 0 && <Button variant="primary" onClick={() => setCreating(true)}>{s.create}</Button>;
  const none = prices && !offered.length ? <Empty title={s.notOffered} text={s.notOfferedText} /> : <Empty title={s.emptyTitle} text={s.emptyText} />;
  return (
    <SpaceBetween size="m">
      <Header variant="h1" description={s.description}>{s.title}</Header>
      <Table
        variant="container"
        wrapLines
        trackBy="id"
        items={data?.items ?? []}
        loading={isPending}
        loadingText={common.loading}
        ariaLabels={{ tableLabel: s.title }}
        header={<Header variant="h2" description={s.text} actions={create}>{s.title}</Header>}
        filter={<Choice label={common.shown} value={view.shown} options={s.shown} onChange={view.show} />}
        pagination={<Pager pages={view.pages} next={data?.next_cursor} />}
        columnDefinitions={columns}
        sortingColumn={{ sortingField: "created_at" }}
        sortingDescending={view.order === "-created_at"}
        onSortingChange={({ detail }) => view.sort(detail.isDescending ?? false)}
        empty={view.shown === "deleted" ? <Empty title={common.noMatch} text={common.noMatchText} /> : none}
      />
      {creating && <CreateAddress prices={offered} onClose={() => setCreating(false)} />}
      {asked && <AddressAction {...asked} onClose={() => setAsked(undefined)} />}
    </SpaceBetween>
  );
}

function useColumns(ask: (address: Address, action: Action) => void) {
  const { cluster, common } = useStrings();
  const s = useAddressStrings();
  const f = useFormat();
  const may = useMay("cluster:write");
  const places = useQuery(regions).data?.items;
  const state = (each: Address) => (
    <>
      <StatusIndicator type={KIND[each.state]}>{s.states[each.state]}</StatusIndicator>
      {each.state_reason && <Box variant="small" display="block">{each.state_reason}</Box>}
    </>
  );
  return [
    { id: "name", header: common.name, isRowHeader: true, cell: (each: Address) => each.name },
    { id: "state", header: common.state, minWidth: 140, cell: state },
    { id: "ip", header: s.ip, cell: (each: Address) => (each.ip ? <Copyable text={each.ip} label={s.ip} /> : common.none) },
    { id: "port", header: s.port, cell: (each: Address) => each.port ?? common.none },
    { id: "region", header: s.region, cell: (each: Address) => places?.find((other) => other.slug === each.region)?.name ?? each.region },
    { id: "cluster", header: s.cluster, cell: (each: Address) => each.cluster ? <To href={`/clusters/${each.cluster}`}>{each.cluster_name}</To> : common.none },
    { id: "sources", header: cluster.sources, cell: (each: Address) => f.list(each.allowed_sources) || s.everywhere },
    { id: "login", header: s.login, cell: (each: Address) => (each.command ? <Copyable text={each.command} label={s.login} /> : common.none) },
    { id: "created", header: common.created, sortingField: "created_at", cell: (each: Address) => f.moment(each.created_at) },
    ...(may ? [{ id: "actions", header: common.actions, cell: (each: Address) => <Actions address={each} ask={ask} /> }] : []),
  ];
}

function Actions({ address, ask }: { address: Address; ask: (address: Address, action: Action) => void }) {
  const { cluster, common } = useStrings();
  const s = useAddressStrings();
  if (address.state === "deleted") return null;
  const free = address.state === "available";
  return (
    <ButtonDropdown
      variant="inline-icon"
      expandToViewport
      ariaLabel={s.actionsOf(address.name)}
      items={[
        { id: "attach", text: s.attach, disabled: !free },
        { id: "detach", text: s.detach, disabled: address.state !== "attached" },
        { id: "sources", text: cluster.sources },
        { id: "delete", text: common.remove, disabled: !free && address.state !== "error" },
      ]}
      onItemClick={({ detail }) => ask(address, detail.id as Action)}
    />
  );
}
