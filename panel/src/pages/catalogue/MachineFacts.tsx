import Box from "@cloudscape-design/components/box";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import KeyValuePairs, { type KeyValuePairsProps } from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useQuery } from "@tanstack/react-query";
import { ipus, type Ipu, type MachineType } from "../../api/catalogue";
import { regions } from "../../api/queries";
import { useFormat } from "../../i18n";
import { useCatalogueStrings } from "../../i18n/catalogue";
import { SourceLink } from "./SourceLink";

type Facts = KeyValuePairsProps.Item[];

/** What is published of a machine type and of its IPUs, with the sources. */
export function MachineFacts({ type }: { type: MachineType }) {
  const s = useCatalogueStrings();
  const ipu = useQuery(ipus).data?.items.find((each) => each.id === type.ipu);
  const { details = [], comparisons = [] } = type;
  const facts = useTypeFacts(type);
  return (
    <Container header={<Header variant="h2">{type.name}</Header>}>
      <SpaceBetween size="l">
        <KeyValuePairs columns={4} items={facts} />
        {details.length > 0 && <Lines title={s.more} lines={details} />}
        {type.notes && <div><Box variant="awsui-key-label">{s.notes}</Box><div className="words">{type.notes}</div></div>}
        {comparisons.length > 0 && (
          <div>
            <Box variant="awsui-key-label">{s.comparisons}</Box>
            <ul className="consequences">
              {comparisons.map((each) => <li key={each.text}>{each.text} (<SourceLink source={each.source} />)</li>)}
            </ul>
          </div>
        )}
        {ipu && <IpuFacts ipu={ipu} />}
      </SpaceBetween>
    </Container>
  );
}

function useTypeFacts(type: MachineType): Facts {
  const s = useCatalogueStrings();
  const f = useFormat();
  const sold = (useQuery(regions).data?.items ?? []).filter((each) => each.machine_types.includes(type.id)).map((each) => each.name);
  const { fp32_pflops: fp32, fp8_pflops: fp8, streaming_memory_gb: streaming = [] } = type;
  return [
    { label: s.ipus, value: f.number(type.ipus) },
    { label: s.compute16, value: s.pflops(f.number(type.ai_pflops, 3)) },
    ...(fp32 ? [{ label: s.compute32, value: s.pflops(f.number(fp32, 3)) }] : []),
    ...(fp8 ? [{ label: s.compute8, value: s.pflops(f.number(fp8, 3)) }] : []),
    { label: s.cores, value: s.coresOf(f.number(type.cores), f.number(type.threads)) },
    { label: s.memory, value: s.gigabytes(f.number(type.in_processor_memory_gb, 1)) },
    ...(streaming.length ? [{ label: s.streaming, value: s.sizes(streaming.map((each) => f.number(each)).join(" / ")) }] : []),
    { label: s.links, value: type.fabric },
    { label: s.allocatedThrough, value: s.through[type.allocated_through] },
    { label: s.soldIn, value: sold.length ? f.list(sold) : s.notSold },
    { label: s.source, value: <SourceLink source={type.source} /> },
  ];
}

function IpuFacts({ ipu }: { ipu: Ipu }) {
  const s = useCatalogueStrings();
  const f = useFormat();
  const facts: Facts = [
    { label: s.cores, value: s.coresOf(f.number(ipu.cores), f.number(ipu.threads)) },
    ...(ipu.clock_ghz ? [{ label: s.clock, value: s.gigahertz(f.number(ipu.clock_ghz, 3)) }] : []),
    { label: s.compute16, value: s.tflops(f.number(ipu.fp16_tflops, 1)) },
    ...(ipu.fp32_tflops ? [{ label: s.compute32, value: s.tflops(f.number(ipu.fp32_tflops, 1)) }] : []),
    ...(ipu.fp8_tflops ? [{ label: s.compute8, value: s.tflops(f.number(ipu.fp8_tflops, 1)) }] : []),
    { label: s.memory, value: s.megabytes(f.number(ipu.in_processor_memory_mb)) },
    ...(ipu.memory_bandwidth_tb_per_s ? [{ label: s.bandwidth, value: s.terabytes(f.number(ipu.memory_bandwidth_tb_per_s, 1)) }] : []),
    { label: s.links, value: ipu.ipu_link_bandwidth },
    ...(ipu.exchange_bandwidth ? [{ label: s.exchange, value: ipu.exchange_bandwidth }] : []),
    ...(ipu.host_interface ? [{ label: s.host, value: ipu.host_interface }] : []),
    { label: s.source, value: <SourceLink source={ipu.source} /> },
  ];
  return (
    <SpaceBetween size="s">
      <Box variant="h3">{s.ipu(ipu.name)}</Box>
      <KeyValuePairs columns={4} items={facts} />
      {ipu.notes && <div><Box variant="awsui-key-label">{s.notes}</Box><div className="words">{ipu.notes}</div></div>}
    </SpaceBetween>
  );
}

function Lines({ title, lines }: { title: string; lines: string[] }) {
  return (
    <div>
      <Box variant="awsui-key-label">{title}</Box>
      <ul className="consequences">{lines.map((line) => <li key={line}>{line}</li>)}</ul>
    </div>
  );
}
