import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import type { Schemas } from "../../api/client";
import { times } from "../../api/catalogue";
import type { Reserving } from "../../api/reservations";
import { Consequences } from "../../components/Consequences";
import { To } from "../../components/To";
import { useFormat } from "../../i18n";
import { useReservationStrings } from "../../i18n/reservations";
import { fitting } from "./draft";

type Props = { wanted: Reserving | null; found: Schemas["ReservationEstimate"] | undefined; pending: boolean; onCount: (count: number) => void };

/** What the reservation costs, whether it fits, and what it commits to. */
export function Estimate({ wanted, found, pending, onCount }: Props) {
  const s = useReservationStrings();
  return (
    <div aria-live="polite">
      <SpaceBetween size="m">
        {!wanted && <Box color="text-body-secondary">{s.incomplete}</Box>}
        {pending && <StatusIndicator type="loading">{s.estimating}</StatusIndicator>}
        {wanted && found && !pending && <Found wanted={wanted} found={found} onCount={onCount} />}
      </SpaceBetween>
    </div>
  );
}

function Found({ wanted, found, onCount }: { wanted: Reserving; found: Schemas["ReservationEstimate"]; onCount: (count: number) => void }) {
  const s = useReservationStrings();
  const f = useFormat();
  const { quota, capacity } = found;
  const left = Math.max(0, quota.limit - quota.used);
  const fits = fitting(found, wanted.count ?? 1);
  const instead = fits > 0 && <Button onClick={() => onCount(fits)}>{s.insteadOf(f.number(fits))}</Button>;
  return (
    <SpaceBetween size="m">
      <KeyValuePairs
        columns={3}
        items={[
          { label: s.price, value: f.money(times(found.price_per_minute, 60)) },
          { label: s.time, value: f.duration(60 * found.minutes) },
          { label: s.cost, value: <Box fontWeight="bold">{f.money(found.cost)}</Box> },
          { label: s.machines, value: f.number(found.machines) },
          { label: s.quota, value: s.quotaLeft(f.number(left), f.number(quota.limit)) },
          { label: s.fits, value: s.fitsCount(f.number(capacity.fits)) },
        ]}
      />
      {!quota.allowed && (
        <Alert type="warning" action={instead}>
          {s.quotaShort(f.number(quota.needed), f.number(left))} <To href="/quotas">{s.askForQuota}</To>
        </Alert>
      )}
      {quota.allowed && capacity.why_not && <Alert type="warning" action={instead}>{capacity.why_not.detail}</Alert>}
      {quota.allowed && capacity.available && (
        <Consequences
          type={found.cancel_until ? "info" : "warning"}
          lines={[
            s.what(f.moment(wanted.starts_at), f.moment(wanted.ends_at), f.money(found.cost)),
            found.cancel_until ? s.whatCancel(f.moment(found.cancel_until)) : s.whatNever,
            s.whatHeld(f.number(found.machines)),
            s.whatAfter,
          ]}
        />
      )}
    </SpaceBetween>
  );
}
