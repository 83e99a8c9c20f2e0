import AttributeEditor from "@cloudscape-design/components/attribute-editor";
import DatePicker from "@cloudscape-design/components/date-picker";
import FormField from "@cloudscape-design/components/form-field";
import SpaceBetween from "@cloudscape-design/components/space-between";
import TimeInput from "@cloudscape-design/components/time-input";
import TokenGroup from "@cloudscape-design/components/token-group";
import { useState } from "react";
import type { Schemas } from "../../../api/client";
import { DayChoice } from "../../../components/DayChoice";
import { ZoneSelect } from "../../../components/ZoneSelect";
import { useFormat, useStrings } from "../../../i18n";
import { useRepairStrings } from "../../../i18n/repairs";
import { useScheduleStrings } from "../../../i18n/schedules";

export type Calendar = Omit<Schemas["ClusterSchedule"], "holidays"> & { holidays: string[] };
type Period = Calendar["periods"][number];

const TIME = /^\d\d:\d\d$/;

export const isComplete = (calendar: Calendar) =>
  calendar.periods.length > 0 && calendar.periods.every((each) => each.days.length > 0 && TIME.test(each.starts_at) && TIME.test(each.ends_at));

/** Periods of use, the days without any, and the time zone of both. */
export function CalendarFields({ calendar, onChange }: { calendar: Calendar; onChange: (part: Partial<Calendar>) => void }) {
  const { common } = useStrings();
  const repairs = useRepairStrings();
  const s = useScheduleStrings();
  const f = useFormat();
  const [day, setDay] = useState("");
  const { periods, holidays } = calendar;
  const period = (index: number, part: Partial<Period>) => onChange({ periods: periods.map((each, at) => (at === index ? { ...each, ...part } : each)) });
  const time = (index: number, field: "starts_at" | "ends_at", value: string) => (
    <TimeInput value={value} format="hh:mm" placeholder="hh:mm" onChange={({ detail }) => period(index, { [field]: detail.value })} />
  );
  return (
    <SpaceBetween size="m">
      <AttributeEditor
        items={periods}
        addButtonText={s.addPeriod}
        removeButtonText={common.remove}
        removeButtonAriaLabel={(each) => `${common.remove}: ${each.starts_at}–${each.ends_at}`}
        onAddButtonClick={() => onChange({ periods: [...periods, { days: [], starts_at: "08:00", ends_at: "20:00" }] })}
        onRemoveButtonClick={({ detail }) => onChange({ periods: periods.filter((_, at) => at !== detail.itemIndex) })}
        empty={s.noPeriod}
        gridLayout={[{ rows: [[6, 2, 2]], breakpoint: "s" }, { rows: [[1], [1, 1]] }]}
        definition={[
          { label: repairs.days, control: (each, index) => <DayChoice days={each.days} onChange={(days) => period(index, { days })} /> },
          { label: repairs.from, control: (each, index) => time(index, "starts_at", each.starts_at) },
          { label: s.until, control: (each, index) => time(index, "ends_at", each.ends_at) },
        ]}
      />
      <FormField label={s.holidays} description={s.holidaysHelp}>
        <SpaceBetween size="xs">
          <DatePicker
            value={day}
            placeholder="YYYY/MM/DD"
            openCalendarAriaLabel={() => `${s.holidays}: ${common.calendar}`}
            onChange={({ detail }) => {
              const whole = /^\d{4}-\d\d-\d\d$/.test(detail.value);
              setDay(whole ? "" : detail.value);
              if (whole) onChange({ holidays: [...new Set([...holidays, detail.value])].sort() });
            }}
          />
          <TokenGroup
            items={holidays.map((each) => ({ label: f.day(each), dismissLabel: `${common.remove}: ${f.day(each)}` }))}
            onDismiss={({ detail }) => onChange({ holidays: holidays.filter((_, at) => at !== detail.itemIndex) })}
          />
        </SpaceBetween>
      </FormField>
      <FormField label={repairs.zone}>
        <ZoneSelect zone={calendar.time_zone} onChange={(time_zone) => onChange({ time_zone })} />
      </FormField>
    </SpaceBetween>
  );
}
