import DatePicker from "@cloudscape-design/components/date-picker";
import SpaceBetween from "@cloudscape-design/components/space-between";
import TimeInput from "@cloudscape-design/components/time-input";
import { useState } from "react";
import { useStrings } from "../i18n";

type Props = { value: string; onChange: (iso: string) => void; label: string };

/** A day and a time of the browser's time zone; tells the instant as ISO 8601, and nothing while one of them is missing. */
export function MomentInput({ value, onChange, label }: Props) {
  const s = useStrings().common;
  const [day, setDay] = useState(() => (value ? local(new Date(value)).slice(0, 10) : ""));
  const [time, setTime] = useState(() => (value ? local(new Date(value)).slice(11, 16) : ""));
  const tell = (nextDay: string, nextTime: string) => {
    const instant = new Date(`${nextDay}T${nextTime}`);
    onChange(/^\d\d:\d\d$/.test(nextTime) && !Number.isNaN(instant.getTime()) ? instant.toISOString() : "");
  };
  return (
    <SpaceBetween direction="horizontal" size="xs">
      <DatePicker
        value={day}
        placeholder="YYYY/MM/DD"
        ariaLabel={`${label}: ${s.day}`}
        openCalendarAriaLabel={() => `${label}: ${s.calendar}`}
        onChange={({ detail }) => {
          setDay(detail.value);
          tell(detail.value, time);
        }}
      />
      <div className="clock">
        <TimeInput
          value={time}
          format="hh:mm"
          placeholder="hh:mm"
          ariaLabel={`${label}: ${s.time}`}
          onChange={({ detail }) => {
            setTime(detail.value);
            tell(day, detail.value);
          }}
        />
      </div>
    </SpaceBetween>
  );
}

/** An instant as the browser's clock shows it: 2026-05-04T13:10. */
function local(instant: Date): string {
  return new Date(instant.getTime() - instant.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
