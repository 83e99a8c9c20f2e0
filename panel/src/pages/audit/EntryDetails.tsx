import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import type { AuditEntry } from "../../api/audit";
import { Copyable } from "../../components/Copyable";
import { Notice } from "../../components/Notice";
import { To } from "../../components/To";
import { useFormat, useStrings } from "../../i18n";
import { Result } from "./Result";

/** Everything that the log has of a request. */
export function EntryDetails({ entry, onClose }: { entry: AuditEntry; onClose: () => void }) {
  const { audit: s, cluster, common } = useStrings();
  const f = useFormat();
  const id = (label: string, value: string | null) => (value ? [{ label, value: <Copyable text={value} label={label} /> }] : []);
  const took = entry.completed_at ? (Date.parse(entry.completed_at) - Date.parse(entry.at)) / 1000 : null;
  return (
    <Notice large title={entry.operation} onClose={onClose}>
      <KeyValuePairs
        columns={2}
        items={[
          { label: cluster.at, value: f.second(entry.at) },
          { label: s.took, value: took === null ? common.none : f.milliseconds(took) },
          { label: s.result, value: <Result entry={entry} /> },
          { label: s.method, value: entry.method },
          { label: s.actor, value: entry.actor ?? s.nobody },
          { label: s.address, value: entry.address },
          { label: s.agent, value: entry.agent || common.none },
          { label: s.seq, value: entry.seq === null ? s.unsealed : f.number(entry.seq) },
          ...id(s.requestId, entry.request_id),
          ...id(s.tokenId, entry.token_id),
          ...id(s.projectId, entry.project_id),
          ...id(s.accountId, entry.account_id),
          ...Object.entries(entry.objects).map(([name, value]) => ({
            label: name,
            value: name === "cluster_id" ? <To href={`/clusters/${value}`}>{value}</To> : <Copyable text={value} label={name} />,
          })),
          ...id(s.hash, entry.hash),
        ]}
      />
    </Notice>
  );
}
