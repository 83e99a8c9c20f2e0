import Multiselect from "@cloudscape-design/components/multiselect";
import type { Schemas } from "../api/client";
import { useStrings } from "../i18n";
import { useRepairStrings } from "../i18n/repairs";

export type Day = Schemas["RepairWindow"]["days"][number];

/** Days of the week, in its order whatever the order of choosing. */
export function DayChoice({ days, onChange, label }: { days: readonly Day[]; onChange: (days: Day[]) => void; label?: string }) {
  const { common } = useStrings();
  const s = useRepairStrings();
  const options = (Object.entries(s.weekdays) as [Day, string][]).map(([value, text]) => ({ value, label: text }));
  const chosen = options.filter((each) => days.includes(each.value));
  return (
    <Multiselect
      ariaLabel={label}
      placeholder={s.days}
      options={options}
      selectedOptions={chosen}
      onChange={({ detail }) => {
        const wanted = detail.selectedOptions.map((each) => each.value);
        onChange(options.map((each) => each.value).filter((day) => wanted.includes(day)));
      }}
      deselectAriaLabel={(option) => `${common.remove}: ${option.label}`}
    />
  );
}
