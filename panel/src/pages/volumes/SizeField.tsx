import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import { useQuery } from "@tanstack/react-query";
import { projectPrices, times } from "../../api/catalogue";
import { VOLUME_SKU } from "../../api/volumes";
import { useProject } from "../../app/Project";
import { useFormat } from "../../i18n";
import { useVolumeStrings } from "../../i18n/volumes";

const MINUTES = 30 * 24 * 60;

/** A number of GiB as it was typed, if it is one. */
export const wholeGib = (typed: string) => (/^[1-9]\d{0,6}$/.test(typed.trim()) ? Number(typed) : undefined);

/** A size, with what it costs at the price that is in force. */
export function SizeField({ size, onChange, region, help }: { size: string; onChange: (size: string) => void; region: string | undefined; help?: string }) {
  const s = useVolumeStrings();
  const f = useFormat();
  const now = Date.now();
  const price = useQuery(projectPrices(useProject())).data?.items.find((each) => each.sku === VOLUME_SKU && each.region === region
    && Date.parse(each.valid_from) <= now && (each.valid_to === null || now < Date.parse(each.valid_to)));
  const gib = wholeGib(size);
  const cost = price && gib !== undefined && s.perMonth(f.money(times(price.unit_price, gib * MINUTES)));
  return (
    <FormField label={s.sizeInGib} description={help} constraintText={cost}>
      <Input value={size} onChange={({ detail }) => onChange(detail.value)} type="number" inputMode="numeric" />
    </FormField>
  );
}
