import Header from "@cloudscape-design/components/header";
import PropertyFilter, { type PropertyFilterProps } from "@cloudscape-design/components/property-filter";
import Table from "@cloudscape-design/components/table";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Schemas } from "../../api/client";
import { operatorEvents, type OperatorEvent, type OperatorEventFilter } from "../../api/operator";
import type { paths } from "../../api/schema";
import { regions } from "../../api/queries";
import { useChoice, useMay } from "../../app/Project";
import { Actor } from "../../components/Actor";
import { Empty } from "../../components/Empty";
import { details } from "../../components/EventTable";
import { FailedPage } from "../../components/Failure";
import { Pager } from "../../components/Pager";
import { To } from "../../components/To";
import { useCursor } from "../../components/useCursor";
import { useFormat, useStrings } from "../../i18n";
import { useOperatedStrings } from "../../i18n/operated";
import { useOperatorStrings } from "../../i18n/operator";

type Type = NonNullable<NonNullable<paths["/v1/operator/events"]["get"]["parameters"]["query"]>["type"]>[number];

const TYPES: Record<Type, true> = {
  "audit.repaired": true, "automation.halted": true, "automation.resumed": true, "billing_month.late": true, "billing_month.sealed": true,
  "cluster.delete_forced": true, "cluster.hardware_isolated": true, "cluster.hardware_replaced": true, "cluster.repair_ended": true, "cluster.repair_started": true,
  "cluster.repair_waiting": true, "fault_report.closed": true, "fault_report.confirmed": true, "fault_report.dismissed": true, "fault_report.opened": true,
  "fault_report.repaired": true, "freeze.ended": true, "freeze.started": true, "hardware.drained": true, "hardware.maintained": true, "hardware.quarantined": true,
  "hardware.returned_to_service": true, "inventory.agrees": true, "inventory.differs": true, "maintenance.announced": true, "payment.reversal_found": true, "payment.reversal_withdrawn": true,
  "price.missing": true, "price.supplied": true,
  "price_correction.accepted": true, "price_correction.finished": true, "quota_request.declined": true, "quota_request.granted": true, "quota_request.opened": true,
  "quota_request.withdrawn": true,
};

/** For operators: what happened to the platform, by type, region and project. */
export function OperatorEvents() {
  const { cluster, common, events } = useStrings();
  const s = useOperatedStrings();
  const o = useOperatorStrings();
  const f = useFormat();
  const may = useMay("platform:read");
  const [tokens, setTokens] = useState<readonly PropertyFilterProps.Token[]>([]);
  const [order, setOrder] = useState<Schemas["Order"]>("-created_at");
  const pages = useCursor();
  const { data, error, isPending, refetch } = useQuery({ ...operatorEvents({ ...filterOf(tokens), order, limit: 50, cursor: pages.cursor }), enabled: may });
  const options = useEventFilter();
  const name = useOperatorEventName();
  const noun = (type: string) => s.nouns[type] ?? events.nouns[type] ?? type;
  if (!may) return <Empty page title={s.title} text={common.notAllowed} />;
  if (error && !data) return <FailedPage title={s.title} error={error} retry={() => void refetch()} />;
  return (
    <Table
      variant="full-page"
      wrapLines
      trackBy="id"
      items={data?.items ?? []}
      loading={isPending}
      loadingText={common.loading}
      ariaLabels={{ tableLabel: s.title }}
      header={<Header variant="awsui-h1-sticky" description={s.description}>{s.title}</Header>}
      filter={
        <PropertyFilter
          query={{ tokens, operation: "and" }}
          onChange={({ detail }) => {
            setTokens(detail.tokens);
            pages.reset();
          }}
          filteringPlaceholder={s.find}
          filteringAriaLabel={s.find}
          hideOperations
          disableFreeTextFiltering
          {...options}
        />
      }
      sortingColumn={{ sortingField: "at" }}
      sortingDescending={order === "-created_at"}
      onSortingChange={({ detail }) => {
        setOrder(detail.isDescending ? "-created_at" : "created_at");
        pages.reset();
      }}
      columnDefinitions={[
        { id: "at", header: cluster.at, sortingField: "at", cell: (each) => f.moment(each.at) },
        { id: "event", header: cluster.event, isRowHeader: true, cell: (each) => name(each.type) },
        { id: "region", header: o.region, cell: (each) => each.region ?? common.none },
        { id: "project", header: o.project, cell: (each) => each.project ?? common.none },
        {
          id: "about", header: events.about,
          cell: (each) => each.subject_type === "machine" && each.subject_name
            ? <To href={`/operator/machines/${each.subject_name}`}>{each.subject_name}</To>
            : (each.subject_name ?? noun(each.subject_type)),
        },
        { id: "actor", header: events.actor, cell: (each) => <Actor event={each} /> },
        { id: "details", header: events.details, cell: (each) => details(each.data, cluster.operations) || common.none },
      ]}
      pagination={<Pager pages={pages} next={data?.next_cursor} />}
      empty={tokens.length ? <Empty title={common.noMatch} text={common.noMatchText} /> : <Empty title={cluster.noEvents} text={s.emptyText} />}
    />
  );
}

/** An event of the platform in words: "Freeze ended" for `freeze.ended`. */
function useOperatorEventName(): (type: string) => string {
  const { events } = useStrings();
  const s = useOperatedStrings();
  return (type) => {
    const [noun = "", verb = ""] = type.split(".");
    const [thing, did] = [s.nouns[noun] ?? events.nouns[noun], s.verbs[verb] ?? events.verbs[verb]];
    return thing && did ? `${thing} ${did}` : type;
  };
}

/** The list's parameters for the filter's tokens: several types are any of them; of a region and a project the last counts. */
function filterOf(tokens: readonly PropertyFilterProps.Token[]): OperatorEventFilter {
  const all = (name: string) => tokens.filter((each) => each.propertyKey === name).map((each) => String(each.value));
  const type = all("type") as OperatorEvent["type"][];
  return { type: type.length ? type : undefined, region: all("region").at(-1), project: all("project").at(-1) };
}

function useEventFilter(): Pick<PropertyFilterProps, "filteringProperties" | "filteringOptions"> {
  const s = useOperatedStrings();
  const o = useOperatorStrings();
  const { projects } = useChoice();
  const places = useQuery(regions).data?.items ?? [];
  const name = useOperatorEventName();
  const property = (key: string, label: string) => ({ key, propertyLabel: label, groupValuesLabel: label, operators: ["="] as const });
  return {
    filteringProperties: [property("type", s.event), property("region", o.region), property("project", o.project)],
    filteringOptions: [
      ...Object.keys(TYPES).map((value) => ({ propertyKey: "type", value, label: name(value) })),
      ...places.map((each) => ({ propertyKey: "region", value: each.slug, label: each.name })),
      ...projects.map((each) => ({ propertyKey: "project", value: each.slug, label: each.name })),
    ],
  };
}
