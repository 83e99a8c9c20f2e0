import Alert from "@cloudscape-design/components/alert";
import Checkbox from "@cloudscape-design/components/checkbox";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import Select from "@cloudscape-design/components/select";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, type Schemas } from "../api/client";
import { flavors, resizeEstimate, type Cluster } from "../api/queries";
import { useFlash } from "../app/Flashes";
import { useProject } from "../app/Project";
import { useFormat, useStrings } from "../i18n";
import { Consequences } from "./Consequences";
import { Dialog } from "./Dialog";
import { Field } from "./Field";
import { useChange } from "./useChange";

/** Asks for the new size, and says what it costs, how long it takes and what becomes of partitions, before it is requested. */
export function ResizeModal({ cluster, onClose }: { cluster: Cluster; onClose: () => void }) {
  const { common, clusters: s } = useStrings();
  const flash = useFlash();
  const project = useProject();
  const f = useFormat();
  const sold = useQuery(flavors(cluster.region));
  const [flavor, setFlavor] = useState<string>();
  const [waits, setWaits] = useState(false);
  const estimate = useQuery(resizeEstimate(project, cluster.id, flavor));
  const type = cluster.machines[0]?.machine_type;
  const sizes = (sold.data?.items ?? [])
    .filter((each) => each.machine_type === type && each.poplar_servers === cluster.poplar_servers.length && each.name !== cluster.flavor)
    .map((each) => ({ value: each.name, label: each.name, description: s.sizeOf(each.ipus) }));
  const queue = estimate.data?.capacity.wait;
  const run = useChange(
    (chosen: string) =>
      api.POST("/v1/projects/{project}/clusters/{cluster}:resize", {
        params: { path: { project, cluster: cluster.id } },
        body: { flavor: chosen, ...(waits && { wait_for_capacity: true }) },
      }),
    () => {
      flash({ type: "success", content: s.resizeDone(cluster.name) });
      onClose();
    },
  );
  const possible = flavor !== undefined && estimate.data?.quota.allowed === true && (!queue || waits);
  return (
    <Dialog
      title={s.resizeTitle(cluster.name)}
      submit={s.resize}
      ready={possible}
      pending={run.isPending}
      error={sold.error ?? estimate.error ?? run.error}
      onSubmit={() => flavor && run.mutate(flavor)}
      onClose={onClose}
    >
      <Consequences lines={s.resizeWhat} />
      <Field at="/flavor" label={s.newSize}>
        <Select
          options={sizes}
          placeholder={s.chooseSize}
          loadingText={common.loading}
          statusType={sold.isPending ? "loading" : "finished"}
          selectedOption={sizes.find((each) => each.value === flavor) ?? null}
          onChange={({ detail }) => setFlavor(detail.selectedOption.value)}
        />
      </Field>
      {estimate.data && <Estimate found={estimate.data} />}
      {queue && (
        <Checkbox checked={waits} onChange={({ detail }) => setWaits(detail.checked)} description={s.resizeWaitsText}>
          {s.resizeWaits(f.number(queue.place))}
        </Checkbox>
      )}
    </Dialog>
  );
}

function Estimate({ found }: { found: Schemas["ResizeEstimate"] }) {
  const s = useStrings().clusters;
  const f = useFormat();
  const lost = found.partitions.filter((each) => each.ipus_after === null).map((each) => each.name);
  const why = found.capacity.why_not;
  return (
    <SpaceBetween size="s">
      <KeyValuePairs
        columns={2}
        items={[
          { label: s.pricePerHour, value: s.instead(f.money(found.price_after.price_per_hour), f.money(found.price_before.price_per_hour)) },
          { label: s.backAfter, value: f.duration(found.expected_seconds) },
          { label: s.itsMachines, value: found.moves === null ? s.noRoom : found.moves ? s.moves : s.stays },
          { label: s.itsPartitions, value: lost.length > 0 ? s.partitionsDropped(f.list(lost)) : s.partitionsKept },
        ]}
      />
      {why && <Alert type="warning">{why.detail}</Alert>}
      {!found.quota.allowed && <Alert type="warning">{s.quotaShort(found.quota.needed, Math.max(0, found.quota.limit - found.quota.used))}</Alert>}
    </SpaceBetween>
  );
}
