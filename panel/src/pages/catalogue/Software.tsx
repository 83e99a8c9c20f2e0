import Header from "@cloudscape-design/components/header";
import Table, { type TableProps } from "@cloudscape-design/components/table";
import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useSearchParams } from "react-router";
import { recipes, tools, type Image, type Recipe, type RecipeTask, type Tool, type ToolKind } from "../../api/catalogue";
import { images, regions } from "../../api/queries";
import { Choice } from "../../components/Choice";
import { Copyable } from "../../components/Copyable";
import { Empty } from "../../components/Empty";
import { Failure } from "../../components/Failure";
import { useFormat, useStrings } from "../../i18n";
import { useCatalogueStrings } from "../../i18n/catalogue";
import { To } from "../../components/To";
import { recipeAddress } from "./addresses";
import { SourceLink } from "./SourceLink";

const ALL = "all";

/** The images for Poplar servers. */
export function Images() {
  const s = useCatalogueStrings();
  const f = useFormat();
  const places = useQuery(regions).data?.items ?? [];
  const [region, filter] = useFilter("region", s.region, { [ALL]: s.allRegions, ...Object.fromEntries(places.map((each) => [each.slug, each.name])) });
  const placeOf = (slug: string) => places.find((each) => each.slug === slug)?.name ?? slug;
  return (
    <Facts<Image>
      title={s.tabs.images}
      text={s.imagesText}
      found={useQuery(images(region))}
      filter={filter}
      id={(each) => each.name}
      columns={[
        { id: "name", header: s.image, minWidth: 200, isRowHeader: true, cell: (each) => each.name },
        { id: "os", header: s.system, cell: (each) => `${s.systems[each.os] ?? each.os} ${each.os_version}` },
        { id: "sdk", header: s.sdk, cell: (each) => each.sdk_version },
        { id: "vipu", header: s.vipu, cell: (each) => each.vipu_version },
        { id: "regions", header: s.offeredIn, minWidth: 140, cell: (each) => f.list(each.regions.map(placeOf)) },
        { id: "source", header: s.source, minWidth: 200, cell: (each) => <SourceLink source={each.source} /> },
      ]}
    />
  );
}

/** Software that Poplar servers are expected to run. */
export function Tools() {
  const s = useCatalogueStrings();
  const f = useFormat();
  const [kind, filter] = useFilter("kind", s.kind, { [ALL]: s.allKinds, ...s.kinds });
  return (
    <Facts<Tool>
      title={s.tabs.tools}
      text={s.toolsText}
      found={useQuery(tools(kind as ToolKind | undefined))}
      filter={filter}
      id={(each) => each.id}
      columns={[
        { id: "name", header: s.tool, minWidth: 140, isRowHeader: true, cell: (each) => each.name },
        { id: "kinds", header: s.kind, cell: (each) => f.list(each.kinds.map((one) => s.kinds[one])) },
        { id: "source", header: s.source, minWidth: 200, cell: (each) => <SourceLink source={each.source} /> },
      ]}
    />
  );
}

const runOf = (recipe: Recipe) => `ipucloud recipes run ${recipe.id} --then delete`;

/** Models of the model garden; of those with a program, the command that runs it. */
export function Models() {
  const { common } = useStrings();
  const s = useCatalogueStrings();
  const f = useFormat();
  const [task, filter] = useFilter("task", s.task, { [ALL]: s.allTasks, ...s.tasks });
  return (
    <Facts<Recipe>
      title={s.tabs.models}
      text={s.modelsText}
      found={useQuery(recipes(task as RecipeTask | undefined))}
      filter={filter}
      id={(each) => each.id}
      columns={[
        { id: "name", header: s.model, minWidth: 140, isRowHeader: true, cell: (each) => (each.program ? <To href={recipeAddress(each.id)}>{each.name}</To> : each.name) },
        { id: "task", header: s.task, cell: (each) => s.tasks[each.task] },
        { id: "framework", header: s.kinds.framework, cell: (each) => (each.program ? s.frameworks[each.program.framework] : common.none) },
        { id: "ipus", header: s.ipus, cell: (each) => (each.program ? f.number(each.program.ipus) : common.none) },
        { id: "run", header: s.run, minWidth: 360, cell: (each) => (each.program ? <Copyable text={runOf(each)} label={each.name} command /> : s.notRunnable) },
        { id: "source", header: s.source, minWidth: 200, cell: (each) => <SourceLink source={each.source} /> },
      ]}
    />
  );
}

/** A filter that the address keeps: its value, if not all are shown, and the control. */
function useFilter(name: string, label: string, options: Record<string, string>): [string | undefined, ReactNode] {
  const [address, setAddress] = useSearchParams();
  const value = address.get(name) ?? ALL;
  const change = (chosen: string) => setAddress({ tab: address.get("tab") ?? "", ...(chosen !== ALL && { [name]: chosen }) }, { replace: true });
  return [value === ALL ? undefined : value, <Choice label={label} value={value} options={options} onChange={change} />];
}

type Props<Item> = {
  title: string;
  text: string;
  found: UseQueryResult<{ items: Item[] }>;
  filter: ReactNode;
  id: (item: Item) => string;
  columns: TableProps.ColumnDefinition<Item>[];
};

function Facts<Item>({ title, text, found, filter, id, columns }: Props<Item>) {
  const { common } = useStrings();
  const f = useFormat();
  const { data, error, isPending, refetch } = found;
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  return (
    <Table
      variant="container"
      wrapLines
      trackBy={id}
      items={data?.items ?? []}
      loading={isPending}
      loadingText={common.loading}
      ariaLabels={{ tableLabel: title }}
      header={<Header variant="h2" description={text} counter={data && `(${f.number(data.items.length)})`}>{title}</Header>}
      filter={filter}
      columnDefinitions={columns}
      empty={<Empty title={common.noMatch} text={common.noMatchText} />}
    />
  );
}
