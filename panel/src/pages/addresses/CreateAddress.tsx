import Input from "@cloudscape-design/components/input";
import Select from "@cloudscape-design/components/select";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ADDRESS_SKU, createAddress } from "../../api/addresses";
import type { Schemas } from "../../api/client";
import { regions } from "../../api/queries";
import { useProject } from "../../app/Project";
import { Dialog } from "../../components/Dialog";
import { Field } from "../../components/Field";
import { networksIn } from "../../components/networks";
import { SourcesField } from "../../components/SourcesField";
import { useChange } from "../../components/useChange";
import { useStrings } from "../../i18n";
import { useAddressStrings } from "../../i18n/addresses";
import { useDone } from "../volumes/useDone";
import { useMonthly } from "../volumes/useMonthly";

/** A new address. `prices`: of one, in the regions that offer them. */
export function CreateAddress({ prices, onClose }: { prices: Schemas["Price"][]; onClose: () => void }) {
  const { common } = useStrings();
  const s = useAddressStrings();
  const done = useDone(onClose);
  const project = useProject();
  const offered = (useQuery(regions).data?.items ?? []).filter((each) => prices.some((price) => price.region === each.slug));
  const options = offered.map((each) => ({ value: each.slug, label: each.name }));
  const [name, setName] = useState("");
  const [region, setRegion] = useState<string>();
  const [sources, setSources] = useState("");
  const allowed = networksIn(sources);
  const place = region ?? (options.length === 1 ? options[0]?.value : undefined);
  const cost = useMonthly(ADDRESS_SKU, place, 1);
  const run = useChange(() => createAddress(project, { name: name.trim(), region: place ?? "", ...(allowed.length && { allowed_sources: allowed }) }), () => done(s.created(name.trim())));
  const ready = name.trim() !== "" && place !== undefined;
  return (
    <Dialog title={s.create} submit={s.create} ready={ready} pending={run.isPending} error={run.error} onSubmit={() => run.mutate()} onClose={onClose}>
      <Field at="/name" label={common.name} description={s.nameRule}>
        <Input value={name} onChange={({ detail }) => setName(detail.value)} autoComplete="off" autoFocus />
      </Field>
      <Field at="/region" label={s.region} constraintText={cost && s.perMonth(cost)}>
        <Select
          placeholder={s.chooseRegion}
          options={options}
          selectedOption={options.find((each) => each.value === place) ?? null}
          onChange={({ detail }) => setRegion(detail.selectedOption.value)}
        />
      </Field>
      <SourcesField text={sources} onChange={setSources} description={s.sourcesText} />
    </Dialog>
  );
}
