import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import Select from "@cloudscape-design/components/select";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { regions } from "../../api/queries";
import type { Schemas } from "../../api/client";
import { createVolume } from "../../api/volumes";
import { useFlash } from "../../app/Flashes";
import { useProject } from "../../app/Project";
import { Dialog } from "../../components/Dialog";
import { useChange } from "../../components/useChange";
import { useStrings } from "../../i18n";
import { useVolumeStrings } from "../../i18n/volumes";
import { SizeField, wholeGib } from "./SizeField";

/** A new volume. `prices`: of a GiB, in the regions that offer volumes. */
export function CreateVolume({ prices, onClose }: { prices: Schemas["Price"][]; onClose: () => void }) {
  const { common } = useStrings();
  const s = useVolumeStrings();
  const flash = useFlash();
  const project = useProject();
  const offered = (useQuery(regions).data?.items ?? []).filter((each) => prices.some((price) => price.region === each.slug));
  const options = offered.map((each) => ({ value: each.slug, label: each.name }));
  const [name, setName] = useState("");
  const [region, setRegion] = useState<string>();
  const [size, setSize] = useState("100");
  const place = region ?? (options.length === 1 ? options[0]?.value : undefined);
  const gib = wholeGib(size);
  const run = useChange(() => createVolume(project, { name: name.trim(), region: place ?? "", size_gib: gib ?? 0 }), () => {
    flash({ type: "success", content: s.created(name.trim()) });
    onClose();
  });
  const ready = name.trim() !== "" && place !== undefined && gib !== undefined;
  return (
    <Dialog title={s.create} submit={s.create} ready={ready} pending={run.isPending} error={run.error} onSubmit={() => run.mutate()} onClose={onClose}>
      <FormField label={common.name} description={s.nameRule}>
        <Input value={name} onChange={({ detail }) => setName(detail.value)} autoComplete="off" autoFocus />
      </FormField>
      <FormField label={s.region}>
        <Select
          placeholder={s.chooseRegion}
          options={options}
          selectedOption={options.find((each) => each.value === place) ?? null}
          onChange={({ detail }) => setRegion(detail.selectedOption.value)}
        />
      </FormField>
      <SizeField size={size} onChange={setSize} region={place} />
    </Dialog>
  );
}
