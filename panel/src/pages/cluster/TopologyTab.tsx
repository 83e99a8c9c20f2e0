import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Table from "@cloudscape-design/components/table";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError } from "../../api/client";
import { topology, type Cluster } from "../../api/queries";
import { useMay, useProject } from "../../app/Project";
import { Empty } from "../../components/Empty";
import { Failure } from "../../components/Failure";
import { Health } from "../../components/Health";
import { Loading } from "../../components/Loading";
import { later } from "../../components/later";
import type { TopologyData } from "../../components/topology/layout";
import { Legend } from "../../components/topology/Legend";
import { usePartitionNames } from "../../components/topology/partitions";
import { Topology } from "../../components/topology/Topology";
import { useStrings } from "../../i18n";
import { useRepairStrings } from "../../i18n/repairs";

const TroubleMenu = later(async () => (await import("../operator/trouble/TroubleMenu")).TroubleMenu, null);
const ReportFault = later(async () => (await import("./repairs/ReportFault")).ReportFault, null);

export function TopologyTab({ cluster }: { cluster: Cluster }) {
  const s = useStrings().cluster;
  const repairs = useRepairStrings();
  const may = useMay("cluster:write");
  const [reporting, setReporting] = useState(false);
  const working = cluster.operation !== null && !cluster.operation.done;
  const { data, error, refetch } = useQuery(topology(useProject(), cluster.id, working));
  const [picked, setPicked] = useState<string>();
  if (error instanceof ApiError && error.status === 409) return <Alert type="info">{error.message}</Alert>;
  if (!data) return error ? <Failure error={error} retry={() => void refetch()} /> : <Loading />;
  if (!data.machines.length) return <Empty title={s.tabs.topology} text={s.noTopology} />;
  return (
    <SpaceBetween size="l">
      <Container header={<Header variant="h2" description={s.pickMachine}>{s.tabs.topology}</Header>}>
        <div className="topology-panel">
          <Topology data={data} selected={picked} onSelect={setPicked} />
          <div className="topology-side">
            <Legend data={data} />
            <div aria-live="polite">{picked && <Details data={data} machine={picked} />}</div>
            {picked && <TroubleMenu region={cluster.region} machine={picked} />}
            {picked && may && <div><Button onClick={() => setReporting(true)}>{repairs.report}</Button></div>}
          </div>
        </div>
      </Container>
      <Machines data={data} />
      {reporting && <ReportFault cluster={cluster} machine={picked} onClose={() => setReporting(false)} />}
    </SpaceBetween>
  );
}

function Details({ data, machine }: { data: TopologyData; machine: string }) {
  const s = useStrings().cluster;
  const name = usePartitionNames(data);
  const found = data.machines.find((each) => each.name === machine);
  if (!found) return null;
  const links = data.links.filter((link) => link.ends.includes(machine));
  return (
    <KeyValuePairs
      columns={1}
      items={[
        { label: s.machine, value: found.name },
        { label: s.slot, value: `${s.rack(found.rack)}, ${found.slot}` },
        {
          label: s.healthLabel,
          value: <><Health health={found.health} />{found.faults.map((fault) => <Box key={fault.code}>{fault.message}</Box>)}</>,
        },
        { label: s.partition, value: [...new Set(found.ipus.map((ipu) => name(ipu.partition)))].join(", ") },
        { label: s.links, value: s.linksUp(links.filter((link) => link.state === "up").length, links.length) },
      ]}
    />
  );
}

/** The same as the picture, as a table. */
function Machines({ data }: { data: TopologyData }) {
  const s = useStrings().cluster;
  const name = usePartitionNames(data);
  return (
    <Table
      variant="container"
      header={<Header variant="h2" counter={`(${data.machines.length})`}>{s.machines}</Header>}
      ariaLabels={{ tableLabel: s.machines }}
      items={data.machines}
      trackBy="name"
      columnDefinitions={[
        { id: "name", header: s.machine, isRowHeader: true, cell: (each) => each.name },
        { id: "slot", header: s.slot, cell: (each) => `${s.rack(each.rack)}, ${each.slot}` },
        { id: "health", header: s.healthLabel, cell: (each) => <Health health={each.health} /> },
        { id: "partition", header: s.partition, cell: (each) => [...new Set(each.ipus.map((ipu) => name(ipu.partition)))].join(", ") },
      ]}
    />
  );
}
