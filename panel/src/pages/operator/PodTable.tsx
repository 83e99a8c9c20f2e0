import Header from "@cloudscape-design/components/header";
import Table from "@cloudscape-design/components/table";
import { useQuery } from "@tanstack/react-query";
import { podPage } from "../../api/operator";
import { Failure } from "../../components/Failure";
import { Pager } from "../../components/Pager";
import { useCursor } from "../../components/useCursor";
import { useFormat, useStrings } from "../../i18n";
import { useOperatorStrings } from "../../i18n/operator";

/** The IPU-Link domains of a region: how much of each is free side by side. */
export function PodTable({ region }: { region: string }) {
  const { common } = useStrings();
  const s = useOperatorStrings();
  const f = useFormat();
  const pages = useCursor();
  const { data, error, isPending, refetch } = useQuery(podPage({ region, limit: 50, cursor: pages.cursor }));
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  return (
    <Table
      variant="container"
      header={<Header variant="h2">{s.pods}</Header>}
      ariaLabels={{ tableLabel: s.pods }}
      items={data?.items ?? []}
      loading={isPending}
      loadingText={common.loading}
      trackBy="name"
      columnDefinitions={[
        { id: "name", header: s.pod, isRowHeader: true, cell: (each) => each.name },
        { id: "rack", header: s.rack, cell: (each) => each.rack },
        { id: "type", header: s.type, cell: (each) => each.machine_type },
        { id: "topology", header: s.topology, cell: (each) => each.topology },
        { id: "free", header: s.freeMachines, cell: (each) => s.ofMachines(f.number(bits(each.masks.free ?? 0)), f.number(each.machines)) },
        { id: "largest", header: s.largestOfPod, cell: (each) => (each.largest_block ? f.number(each.largest_block) : s.nothingFree) },
        {
          id: "health", header: s.health,
          cell: (each) => HEALTH.filter((value) => each.health[value]).map((value) => `${s.values[value]}: ${f.number(each.health[value] ?? 0)}`).join(", "),
        },
      ]}
      pagination={<Pager pages={pages} next={data?.next_cursor} />}
    />
  );
}

const HEALTH = ["ok", "degraded", "failed", "unknown", "silent"] as const;

/** How many slots a mask has. */
const bits = (mask: number) => mask.toString(2).replaceAll("0", "").length;
