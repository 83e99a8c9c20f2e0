import Button from "@cloudscape-design/components/button";
import ButtonDropdown from "@cloudscape-design/components/button-dropdown";
import Header from "@cloudscape-design/components/header";
import PropertyFilter, { type PropertyFilterProps } from "@cloudscape-design/components/property-filter";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Table from "@cloudscape-design/components/table";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useSearchParams } from "react-router";
import { clusterPage, type ClusterSummary } from "../api/queries";
import type { Schemas } from "../api/client";
import { useAddressOf, useGo } from "../app/place";
import { useMay, useProject } from "../app/Project";
import type { ClusterAction } from "../components/ClusterActionModal";
import { Empty } from "../components/Empty";
import { FailedPage } from "../components/Failure";
import { Pager } from "../components/Pager";
import { useCursor } from "../components/useCursor";
import { later } from "../components/later";
import { useStrings } from "../i18n";
import { filterOf, useFilterOptions } from "./clusters/filter";
import { useClusterColumns } from "./clusters/columns";

const ClusterActionModal = later(async () => (await import("../components/ClusterActionModal")).ClusterActionModal, null);

const PAGE = 20; // a cluster of the list has 2.5 kB

export function Clusters() {
  const { common, clusters: s, home } = useStrings();
  const may = useMay("cluster:write");
  const project = useProject();
  const [address, setAddress] = useSearchParams();
  const [tokens, setTokens] = useState<PropertyFilterProps.Token[]>(() => tokensOf(address));
  const [order, setOrder] = useState<Schemas["NamedOrder"]>("-created_at");
  const [chosen, setChosen] = useState<ClusterSummary[]>([]);
  const [action, setAction] = useState<ClusterAction>();
  const pages = useCursor();
  const list = useQuery(clusterPage(project, { ...filterOf(tokens), order, limit: PAGE, cursor: pages.cursor }));
  const items = list.data?.items ?? [];
  const selected = items.filter((each) => chosen.some((other) => other.id === each.id));
  const columns = useClusterColumns();
  const [filtering, setFiltering] = useState(false);
  const options = useFilterOptions(filtering, items);
  const filter = (next: readonly PropertyFilterProps.Token[]) => {
    setTokens([...next]);
    setAddress(next.map((each): [string, string] => [each.propertyKey ?? "q", String(each.value)]), { replace: true });
    pages.reset();
  };
  if (list.error && !list.data) return <FailedPage title={s.title} error={list.error} retry={() => void list.refetch()} />;
  return (
    <>
      <Table
        variant="full-page"
        stickyHeader
        trackBy="id"
        items={items}
        columnDefinitions={columns}
        loading={list.isPending}
        loadingText={common.loading}
        selectionType="multi"
        selectedItems={selected}
        onSelectionChange={({ detail }) => setChosen(detail.selectedItems)}
        sortingColumn={{ sortingField: order.replace("-", "") }}
        sortingDescending={order.startsWith("-")}
        onSortingChange={({ detail }) => {
          setOrder(`${detail.isDescending ? "-" : ""}${detail.sortingColumn.sortingField === "name" ? "name" : "created_at"}`);
          pages.reset();
        }}
        ariaLabels={{
          selectionGroupLabel: common.selection,
          allItemsSelectionLabel: () => common.selectAll,
          itemSelectionLabel: (_, item) => common.select(item.name),
          tableLabel: s.title,
        }}
        header={<ListHeader selected={selected} onAction={setAction} />}
        filter={
          <div onFocus={() => setFiltering(true)}>
            <PropertyFilter
              query={{ tokens, operation: "and" }}
              onChange={({ detail }) => filter(detail.tokens)}
              filteringPlaceholder={s.find}
              filteringAriaLabel={s.find}
              hideOperations
              {...options}
            />
          </div>
        }
        pagination={<Pager pages={pages} next={list.data?.next_cursor} />}
        empty={tokens.length ? <Empty title={common.noMatch} text={common.noMatchText} action={<Button onClick={() => filter([])}>{common.clearFilter}</Button>} />
          : <Empty title={s.emptyTitle} text={may ? s.emptyText : home.nothingText} action={<CreateButton />} />}
      />
      {action && (
        <ClusterActionModal action={action} clusters={selected} onClose={(done) => { setAction(undefined); if (done) setChosen([]); }} />
      )}
    </>
  );
}

function tokensOf(address: URLSearchParams): PropertyFilterProps.Token[] {
  return [...address].map(([name, value]) => ({ propertyKey: name === "q" ? undefined : name, operator: name === "q" ? ":" : "=", value }));
}

function ListHeader({ selected, onAction }: { selected: ClusterSummary[]; onAction: (action: ClusterAction) => void }) {
  const { common, clusters: s } = useStrings();
  const may = useMay("cluster:write");
  const running = selected.length > 0 && selected.every((each) => ["active", "degraded"].includes(each.state));
  const suspended = selected.length > 0 && selected.every((each) => each.state === "suspended");
  return (
    <Header
      variant="awsui-h1-sticky"
      description={s.description}
      counter={selected.length ? `(${selected.length})` : undefined}
      actions={may && (
        <SpaceBetween direction="horizontal" size="xs">
          <ButtonDropdown
            disabled={!selected.length}
            items={[
              { id: "suspend", text: s.suspend, disabled: !running },
              { id: "resume", text: s.resume, disabled: !suspended },
              { id: "delete", text: common.remove },
            ]}
            onItemClick={({ detail }) => onAction(detail.id as ClusterAction)}
          >
            {common.actions}
          </ButtonDropdown>
          <CreateButton primary />
        </SpaceBetween>
      )}
    >
      {s.title}
    </Header>
  );
}

function CreateButton({ primary = false }: { primary?: boolean }) {
  const s = useStrings().shell;
  const go = useGo();
  const addressOf = useAddressOf();
  if (!useMay("cluster:write")) return null;
  return (
    <Button
      variant={primary ? "primary" : "normal"}
      href={addressOf("/clusters/create")}
      onFollow={(event) => {
        event.preventDefault();
        go("/clusters/create");
      }}
    >
      {s.createCluster}
    </Button>
  );
}
