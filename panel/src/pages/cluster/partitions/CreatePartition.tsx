import Alert from "@cloudscape-design/components/alert";
import Checkbox from "@cloudscape-design/components/checkbox";
import Input from "@cloudscape-design/components/input";
import RadioGroup from "@cloudscape-design/components/radio-group";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Schemas } from "../../../api/client";
import { createPartition } from "../../../api/partitions";
import { topology, type Cluster } from "../../../api/queries";
import { useFlash } from "../../../app/Flashes";
import { useProject } from "../../../app/Project";
import { Dialog } from "../../../components/Dialog";
import { Failure } from "../../../components/Failure";
import { Field } from "../../../components/Field";
import { Loading } from "../../../components/Loading";
import { useChange } from "../../../components/useChange";
import { useFormat, useStrings } from "../../../i18n";
import { usePartitionStrings } from "../../../i18n/partitions";

const DOMAIN_IPUS = 64;

/** Creates a partition: of a size that fits now, as the API says; the others say why they do not. */
export function CreatePartition({ cluster, onClose }: { cluster: Cluster; onClose: (operation?: string) => void }) {
  const { common } = useStrings();
  const s = usePartitionStrings();
  const f = useFormat();
  const flash = useFlash();
  const project = useProject();
  const { data, error } = useQuery({ ...topology(project, cluster.id, false), staleTime: 0 });
  const [name, setName] = useState("");
  const [size, setSize] = useState<number>();
  const [gcds, setGcds] = useState("");
  const [reconfigurable, setReconfigurable] = useState(false);
  const [autoReset, setAutoReset] = useState(true);
  const fewest = Math.max(1, (size ?? 1) / DOMAIN_IPUS);
  const oneDomain = fewest === 1;
  const run = useChange(
    (wanted: Schemas["PartitionCreate"]) => createPartition(project, cluster.id, wanted),
    (operation) => {
      flash({ type: "success", content: s.creating(name) });
      onClose(operation.id);
    },
  );
  const why = (each: Schemas["PartitionSize"]) => {
    if (each.fits) return s.fits;
    if (!data?.free_ipus) return s.noneFree;
    return each.reason === "too_few_free" ? s.tooFewFree(f.number(data.free_ipus)) : s.notAligned(f.number(each.size));
  };
  return (
    <Dialog
      title={s.create}
      submit={common.create}
      ready={name !== "" && size !== undefined && /^\d*$/.test(gcds)}
      pending={run.isPending}
      error={run.error}
      onSubmit={() => size && run.mutate({
        name, size, gcds: gcds ? Number(gcds) : fewest, reconfigurable: reconfigurable && oneDomain, auto_reset: autoReset, relocatable: false,
      })}
      onClose={() => onClose()}
    >
      {data?.free_ipus === 0 && <Alert type="info">{s.allTaken}</Alert>}
      <Field at="/name" label={s.name} description={s.nameHelp}>
        <Input value={name} onChange={({ detail }) => setName(detail.value)} autoComplete={false} autoFocus />
      </Field>
      <Field at="/size" label={s.size}>
        {!data ? (error ? <Failure error={error} /> : <Loading />) : (
          <RadioGroup
            value={size === undefined ? null : String(size)}
            onChange={({ detail }) => setSize(Number(detail.value))}
            items={data.partition_sizes.map((each) => ({
              value: String(each.size), label: each.size === 1 ? s.oneIpu : s.sizeOf(f.number(each.size)), description: why(each), disabled: !each.fits,
            }))}
          />
        )}
      </Field>
      <Field at="/gcds" label={s.gcds} description={s.gcdsHelp}>
        <Input value={gcds} placeholder={f.number(fewest)} onChange={({ detail }) => setGcds(detail.value)} inputMode="numeric" />
      </Field>
      <Checkbox checked={reconfigurable && oneDomain} disabled={!oneDomain} description={s.reconfigurableText} onChange={({ detail }) => setReconfigurable(detail.checked)}>
        {s.reconfigurable}
      </Checkbox>
      <Checkbox checked={autoReset} description={s.autoResetText} onChange={({ detail }) => setAutoReset(detail.checked)}>{s.autoReset}</Checkbox>
    </Dialog>
  );
}
