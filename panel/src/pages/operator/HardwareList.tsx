import Button from "@cloudscape-design/components/button";
import ButtonDropdown from "@cloudscape-design/components/button-dropdown";
import Header from "@cloudscape-design/components/header";
import PropertyFilter, { type PropertyFilterProps } from "@cloudscape-design/components/property-filter";
import Table from "@cloudscape-design/components/table";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { hardwarePage, ORDERS_OF, type Hardware, type HardwareAction, type HardwareFilter, type HardwareKind } from "../../api/operator";
import { regions } from "../../api/queries";
import { useMay } from "../../app/Project";
import { Empty } from "../../components/Empty";
import { FailedPage } from "../../components/Failure";
import { Pager } from "../../components/Pager";
import { Health } from "../../components/Health";
import { MODES, valueOf } from "../../components/racks/modes";
import { To } from "../../components/To";
import { later } from "../../components/later";
import { useCursor } from "../../components/useCursor";
import { useStrings } from "../../i18n";
import { useOperatorStrings } from "../../i18n/operator";

const HardwareActionModal = later(async () => (await import("./HardwareActionModal")).HardwareActionModal, null);

const PAGE = 50;

export const MachineList = () => <HardwareList key="machines" kind="machines" />;
export const HostList = () => <HardwareList key="hosts" kind="hosts" />;

/** For operators: machines or hosts by filter, and what can be ordered for them. */
function HardwareList({ kind }: { kind: HardwareKind }) {
  const { common } = useStrings();
  const s = useOperatorStrings();
  const texts = s.of[kind];
  const may = useMay("platform:read");
  const mayOrder = useMay("platform:write");
  const [tokens, setTokens] = useState<PropertyFilterProps.Token[]>([]);
  const [chosen, setChosen] = useState<string[]>([]);
  const [action, setAction] = useState<HardwareAction>();
  const pages = useCursor();
  const list = useQuery({ ...hardwarePage(kind, { ...filterOf(tokens), limit: PAGE, cursor: pages.cursor }), enabled: may });
  const options = useHardwareFilter(kind);
  const items = list.data?.items ?? [];
  const selected = items.filter((each) => chosen.includes(each.name));
  if (!may) return <Empty page title={texts.title} text={common.notAllowed} />;
  if (list.error && !list.data) return <FailedPage title={texts.title} error={list.error} retry={() => void list.refetch()} />;
  const filter = (next: readonly PropertyFilterProps.Token[]) => {
    setTokens([...next]);
    pages.reset();
  };
  return (
    <>
      <Table
        variant="full-page"
        stickyHeader
        trackBy="name"
        items={items}
        loading={list.isPending}
        loadingText={common.loading}
        selectionType={mayOrder ? "multi" : undefined}
        selectedItems={selected}
        onSelectionChange={({ detail }) => setChosen(detail.selectedItems.map((each) => each.name))}
        ariaLabels={{
          selectionGroupLabel: common.selection,
          allItemsSelectionLabel: () => common.selectAll,
          itemSelectionLabel: (_, item) => common.select(item.name),
          tableLabel: texts.title,
        }}
        columnDefinitions={useColumns(kind)}
        header={
          <Header
            variant="awsui-h1-sticky"
            description={`${texts.description} ${s.readAgain}`}
            counter={selected.length ? `(${selected.length})` : undefined}
            actions={mayOrder && (
              <ButtonDropdown
                disabled={!selected.length}
                items={ORDERS_OF[kind].map((id) => ({ id, text: s.orders[id] }))}
                onItemClick={({ detail }) => setAction(detail.id as HardwareAction)}
              >
                {common.actions}
              </ButtonDropdown>
            )}
          >
            {texts.title}
          </Header>
        }
        filter={
          <PropertyFilter
            query={{ tokens, operation: "and" }}
            onChange={({ detail }) => filter(detail.tokens)}
            disableFreeTextFiltering
            filteringPlaceholder={texts.find}
            filteringAriaLabel={texts.find}
            hideOperations
            {...options}
          />
        }
        pagination={<Pager pages={pages} next={list.data?.next_cursor} />}
        empty={tokens.length ? <Empty title={common.noMatch} text={common.noMatchText} action={<Button onClick={() => filter([])}>{common.clearFilter}</Button>} />
          : <Empty title={texts.none} text={s.noMachinesText} />}
      />
      {action && (
        <HardwareActionModal kind={kind} action={action} items={selected} onClose={(done) => { setAction(undefined); if (done) setChosen([]); }} />
      )}
    </>
  );
}

function useColumns(kind: HardwareKind) {
  const { common } = useStrings();
  const s = useOperatorStrings();
  const names = new Map(useQuery(regions).data?.items.map((each) => [each.slug, each.name]));
  return [
    { id: "name", header: s.of[kind].one, isRowHeader: true, cell: (each: Hardware) => <To href={`/operator/${kind}/${each.name}`}>{each.name}</To> },
    { id: "health", header: s.health, cell: (each: Hardware) => <Health health={each.health} /> },
    { id: "use", header: s.use, cell: (each: Hardware) => s.values[valueOf("use", each)] },
    { id: "maintenance", header: s.maintenance, cell: (each: Hardware) => s.values[valueOf("maintenance", each)] },
    { id: "reports", header: s.reports, cell: (each: Hardware) => each.codes.join(", ") || common.none },
    { id: "holder", header: s.holder, cell: (each: Hardware) => (each.holder ? s.heldBy(each.holder) : common.none) },
    { id: "region", header: s.region, cell: (each: Hardware) => names.get(each.region) ?? each.region },
    { id: "place", header: kind === "machines" ? s.rack : s.machine, cell: (each: Hardware) => ("rack" in each ? each.rack : (each.machine ?? common.none)) },
  ];
}

/** The list's parameters for the filter's tokens; of each property the last counts. */
function filterOf(tokens: readonly PropertyFilterProps.Token[]): HardwareFilter {
  return Object.fromEntries(tokens.map((each) => [each.propertyKey, each.value]));
}

function useHardwareFilter(kind: HardwareKind): Pick<PropertyFilterProps, "filteringProperties" | "filteringOptions"> {
  const s = useOperatorStrings();
  const known = useQuery(regions).data?.items ?? [];
  const property = (key: string, label: string) => ({ key, propertyLabel: label, groupValuesLabel: label, operators: ["="] as const });
  return {
    filteringProperties: [
      property("region", s.region), property("health", s.health), property("state", s.use),
      ...(kind === "machines" ? [property("rack", s.rack), property("pod", s.pod)] : []),
      property("code", s.reports), property("serial", s.serial),
    ],
    filteringOptions: [
      ...known.map((each) => ({ propertyKey: "region", value: each.slug, label: each.name })),
      ...MODES.health.map((value) => ({ propertyKey: "health", value, label: s.values[value] })),
      ...MODES.use.map((value) => ({ propertyKey: "state", value, label: s.values[value] })),
    ],
  };
}
