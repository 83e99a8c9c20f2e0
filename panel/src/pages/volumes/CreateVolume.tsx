import Input from "@cloudscape-design/components/input";
import Select from "@cloudscape-design/components/select";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { regions } from "../../api/queries";
import type { Schemas } from "../../api/client";
import type { Snapshot } from "../../api/snapshots";
import { createVolume } from "../../api/volumes";
import { useProject } from "../../app/Project";
import { Dialog } from "../../components/Dialog";
import { Field } from "../../components/Field";
import { useChange } from "../../components/useChange";
import { useFormat, useStrings } from "../../i18n";
import { useVolumeStrings } from "../../i18n/volumes";
import { SizeField, wholeGib } from "./SizeField";
import { useDone } from "./useDone";

/** A new volume, with the files of `snapshot`, if it is given. `prices`: of a GiB, in the regions that offer volumes. */
export function CreateVolume({ prices, snapshot, onClose }: { prices: Schemas["Price"][]; snapshot?: Snapshot; onClose: () => void }) {
  const { common } = useStrings();
  const s = useVolumeStrings();
  const f = useFormat();
  const done = useDone(onClose);
  const project = useProject();
  const offered = (useQuery(regions).data?.items ?? []).filter((each) => prices.some((price) => price.region === each.slug) && (!snapshot || each.slug === snapshot.region));
  const options = offered.map((each) => ({ value: each.slug, label: each.name }));
  const [name, setName] = useState("");
  const [region, setRegion] = useState<string>();
  const [size, setSize] = useState(String(snapshot?.size_gib ?? 100));
  const place = region ?? (options.length === 1 ? options[0]?.value : undefined);
  const least = snapshot?.size_gib ?? 1;
  const gib = wholeGib(size);
  const wanted = { name: name.trim(), region: place ?? "", size_gib: gib ?? 0, ...(snapshot && { snapshot: snapshot.id }) };
  const run = useChange(() => createVolume(project, wanted), () => done(s.created(name.trim())));
  const ready = name.trim() !== "" && place !== undefined && gib !== undefined && gib >= least;
  const help = snapshot && s.atLeast(f.number(least));
  return (
    <Dialog title={snapshot ? s.createFrom(snapshot.name) : s.create} submit={s.create} ready={ready} pending={run.isPending} error={run.error} onSubmit={() => run.mutate()} onClose={onClose}>
      <Field at="/name" label={common.name} description={s.nameRule}>
        <Input value={name} onChange={({ detail }) => setName(detail.value)} autoComplete="off" autoFocus />
      </Field>
      <Field at="/region" label={s.region}>
        <Select
          placeholder={s.chooseRegion}
          options={options}
          selectedOption={options.find((each) => each.value === place) ?? null}
          onChange={({ detail }) => setRegion(detail.selectedOption.value)}
        />
      </Field>
      <SizeField size={size} onChange={setSize} region={place} help={help} />
    </Dialog>
  );
}
