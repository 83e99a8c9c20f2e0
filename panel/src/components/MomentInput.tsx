import Box from "@cloudscape-design/components/box";
import DatePicker from "@cloudscape-design/components/date-picker";
import SpaceBetween from "@cloudscape-design/components/space-between";
import TimeInput from "@cloudscape-design/components/time-input";
import { useState } from "react";
import { useFormat, useStrings } from "../i18n";

type Props = { value: string; onChange: (iso: string) => void; label: string };

/** A day and a time of the zone that it names; tells the instant as ISO 8601, and nothing while one of them is missing. */
export function MomentInput({ value, onChange, label }: Props) {
  const s = useStrings().common;
  const f = useFormat();
  const [day, setDay] = useState(() => (value ? f.local(value).slice(0, 10) : ""));
  const [time, setTime] = useState(() => (value ? f.local(value).slice(11, 16) : ""));
  const tell = (nextDay: string, nextTime: string) => {
    onChange((/^\d\d:\d\d$/.test(nextTime) && f.instant(`${nextDay}T${nextTime}`)) || "");
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
      <Box color="text-body-secondary" padding={{ top: "xxs" }}>{f.zone}</Box>
    </SpaceBetween>
  );
}
