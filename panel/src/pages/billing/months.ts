const MONTHS = 13;

/** The month of an instant and those before it, the latest first. */
export function lastMonths(instant: string): string[] {
  const [year = 0, month = 1] = instant.split("-").map(Number);
  return Array.from({ length: MONTHS }, (_, back) => new Date(Date.UTC(year, month - 1 - back)).toISOString().slice(0, 7));
}
