import Alert from "@cloudscape-design/components/alert";
import { useStrings } from "../../i18n";
import type { TopologyData } from "./layout";
import { colourOf, usePartitionNames } from "./partitions";

/** What colours and lines mean, and each link that does not work. */
export function Legend({ data }: { data: TopologyData }) {
  const s = useStrings().cluster;
  const name = usePartitionNames(data);
  const broken = data.links.filter((link) => link.state === "down" || link.state === "degraded");
  return (
    <>
      <ul className="topology-legend" aria-label={s.legend}>
        {data.partitions.map((each) => (
          <li key={each.partition_id}><span className={`swatch ${colourOf(data, each.partition_id)}`} />{name(each.partition_id)}</li>
        ))}
        {data.free_ipus > 0 && <li><span className="swatch is-free" />{s.free}</li>}
        <li><span className="wire" />{s.ipuLink}</li>
        {data.links.some((link) => link.kind === "gw-link") && <li><span className="wire is-gw-link" />{s.gwLink}</li>}
        {broken.length > 0 && <li><span className="wire is-down" />{s.linkDown}</li>}
      </ul>
      {broken.map((link) => (
        <Alert key={link.ends.join()} type="warning">{s.linkBroken(link.ends[0] ?? "", link.ends[1] ?? "")}</Alert>
      ))}
    </>
  );
}
