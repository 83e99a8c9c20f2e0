import type { Schemas } from "../api/client";

export type Formats = ReturnType<typeof formats>;

/** Numbers, money, dates and durations of one language; days and months are those of UTC, times of the zone, which they name. */
export function formats(language: string, zone: string) {
  const locale = language === "de" ? "de-DE" : "en-GB";
  const whole = new Intl.NumberFormat(locale);
  const moment = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short", timeZone: zone });
  const second = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "medium", timeZone: zone });
  const clock = new Intl.DateTimeFormat(locale, { timeStyle: "medium", timeZone: zone });
  const day = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeZone: "UTC" });
  const shortDay = new Intl.DateTimeFormat(locale, { day: "numeric", month: "short", timeZone: "UTC" });
  const month = new Intl.DateTimeFormat(locale, { month: "long", year: "numeric", timeZone: "UTC" });
  const naming = new Intl.DateTimeFormat(locale, { timeZone: zone, timeZoneName: "short" });
  const named = (style: Intl.DateTimeFormat, at: Date) =>
    `${style.format(at)} ${naming.formatToParts(at).find((part) => part.type === "timeZoneName")?.value ?? zone}`;
  const sortable = new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeStyle: "short", timeZone: zone });
  /** 2026-05-04T13:10, as clocks of the zone show it. */
  const local = (at: Date) => sortable.format(at).replace(" ", "T");
  const offset = (at: number) => Date.parse(`${local(new Date(at))}Z`) - at + (at % 60_000);
  const amount = (value: number, currency: string, digits?: number) =>
    new Intl.NumberFormat(locale, { style: "currency", currency, minimumFractionDigits: digits, maximumFractionDigits: digits }).format(value);
  const separator = (name: "decimal" | "group") => new Intl.NumberFormat(locale).formatToParts(12_345.6).find((part) => part.type === name)?.value ?? "";
  const [decimal, group] = [separator("decimal"), separator("group")];
  const typed = new RegExp(`^(\\d+|\\d{1,3}(?:\\${group}\\d{3})+)(?:\\${decimal}(\\d+))?$`);
  const unit = (value: number, name: string) =>
    new Intl.NumberFormat(locale, { style: "unit", unit: name, unitDisplay: "short", maximumFractionDigits: 0 }).format(value);
  const both = (first: string, rest: number, name: string) => (rest ? `${first} ${unit(rest, name)}` : first);
  return {
    number: (value: number, digits?: number) =>
      digits === undefined ? whole.format(value) : new Intl.NumberFormat(locale, { maximumFractionDigits: digits }).format(value),
    percent: (share: number) => new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 0 }).format(share),
    amount,
    money: (money: Schemas["Money"], digits?: number) => amount(Number(money.amount), money.currency, digits),
    /** Digits after the separator of amounts to pay: of yen none, of euros two, of Kuwaiti dinars three. */
    minorDigits: (currency: string) => (currency ? new Intl.NumberFormat(locale, { style: "currency", currency }).resolvedOptions().maximumFractionDigits ?? 2 : 2),
    /** A decimal of the API as a person of this language types it. */
    decimal: (text: string) => text.replace(".", decimal),
    /** The decimal that a person typed, as the API writes it; null if it is none in this language, or has more than `digits` after the separator. */
    fromDecimal: (text: string, digits: number): string | null => {
      const [, whole, fraction = ""] = typed.exec(text.trim()) ?? [];
      if (whole === undefined || fraction.length > digits) return null;
      return whole.replaceAll(group, "") + (fraction && `.${fraction}`);
    },
    zone,
    local: (iso: string) => local(new Date(iso)),
    /** The instant at which the zone's clocks show it; null if the text is none. */
    instant: (text: string): string | null => {
      const utc = Date.parse(`${text}Z`);
      return Number.isNaN(utc) ? null : new Date(utc - offset(utc - offset(utc))).toISOString();
    },
    /** Of an axis that names its zone. */
    tick: (iso: string) => moment.format(new Date(iso)),
    moment: (iso: string) => named(moment, new Date(iso)),
    second: (iso: string) => named(second, new Date(iso)),
    /** Without a date and its zone, beside a time that has both. */
    clock: (iso: string) => clock.format(new Date(iso)),
    day: (iso: string) => day.format(new Date(iso)),
    shortDay: (iso: string) => shortDay.format(new Date(iso)),
    month: (iso: string) => month.format(new Date(iso)),
    list: (items: string[]) => new Intl.ListFormat(locale, { type: "conjunction" }).format(items),
    milliseconds: (seconds: number) => unit(seconds * 1000, "millisecond"),
    duration: (seconds: number) => {
      const rounded = Math.max(0, Math.round(seconds));
      if (rounded < 60) return unit(rounded, "second");
      if (rounded < 3600) return both(unit(Math.floor(rounded / 60), "minute"), rounded % 60, "second");
      if (rounded < 86_400) return both(unit(Math.floor(rounded / 3600), "hour"), Math.floor((rounded % 3600) / 60), "minute");
      return both(unit(Math.floor(rounded / 86_400), "day"), Math.floor((rounded % 86_400) / 3600), "hour");
    },
  };
}
