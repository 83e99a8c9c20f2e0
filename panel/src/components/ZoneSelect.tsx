import Select from "@cloudscape-design/components/select";

/** All zones; Chromium's list lacks `UTC`. */
export const zones = () => [...new Set(["UTC", ...Intl.supportedValuesOf("timeZone")])];

export function ZoneSelect({ zone, onChange }: { zone: string; onChange: (zone: string) => void }) {
  return (
    <Select
      options={zones().map((value) => ({ value }))}
      filteringType="auto"
      virtualScroll
      selectedOption={{ value: zone }}
      onChange={({ detail }) => onChange(detail.selectedOption.value ?? zone)}
    />
  );
}
