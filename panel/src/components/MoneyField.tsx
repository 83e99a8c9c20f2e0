import Input from "@cloudscape-design/components/input";
import { useFormat, useStrings } from "../i18n";
import { Field } from "./Field";

/** Digits after the separator of the price of a minute. */
export const PRICE_DIGITS = 10;

type Props = {
  /** Where it is in the request. */
  at: string;
  label: string;
  description?: string;
  currency: string;
  /** As it is typed; `useFormat().fromDecimal` reads it. */
  value: string;
  /** As many after the separator at most; default: as the currency has. */
  digits?: number;
  autoFocus?: boolean;
  onChange: (typed: string) => void;
};

/** An amount of money, in the notation of the chosen language; says how it is read, and refuses what could mean something else. */
export function MoneyField({ at, label, description, currency, value, digits: most, autoFocus = false, onChange }: Props) {
  const { common } = useStrings();
  const f = useFormat();
  const minor = f.minorDigits(currency);
  const digits = most ?? minor;
  const amount = f.fromDecimal(value, digits);
  const shown = amount !== null && currency ? f.money({ amount, currency }, Math.max(minor, amount.split(".")[1]?.length ?? 0)) : "";
  return (
    <Field
      at={at}
      label={label}
      description={description}
      constraintText={shown && `= ${shown}`}
      errorText={value.trim() !== "" && amount === null ? common.notAnAmount(f.number(digits ? 1234.5 : 1234, 1), digits) : undefined}
    >
      <Input value={value} inputMode="decimal" autoComplete={false} autoFocus={autoFocus} onChange={({ detail }) => onChange(detail.value)} />
    </Field>
  );
}
