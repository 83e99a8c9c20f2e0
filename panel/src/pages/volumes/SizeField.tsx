import Input from "@cloudscape-design/components/input";
import { VOLUME_SKU } from "../../api/volumes";
import { Field } from "../../components/Field";
import { useVolumeStrings } from "../../i18n/volumes";
import { useMonthly } from "./useMonthly";

/** A number of GiB as it was typed, if it is one. */
export const wholeGib = (typed: string) => (/^[1-9]\d{0,6}$/.test(typed.trim()) ? Number(typed) : undefined);

/** A size, with what it costs at the price that is in force. */
export function SizeField({ size, onChange, region, help }: { size: string; onChange: (size: string) => void; region: string | undefined; help?: string | undefined }) {
  const s = useVolumeStrings();
  const cost = useMonthly(VOLUME_SKU, region, wholeGib(size));
  return (
    <Field at="/size_gib" label={s.sizeInGib} description={help} constraintText={cost && s.perMonth(cost)}>
      <Input value={size} onChange={({ detail }) => onChange(detail.value)} type="number" inputMode="numeric" />
    </Field>
  );
}
