/** The exact sum of decimals as the API writes them. */
export function sum(amounts: string[]): string {
  const digits = Math.max(0, ...amounts.map((each) => each.split(".")[1]?.length ?? 0));
  const scaled = amounts.reduce((total, each) => total + toScaled(each, digits), 0n);
  const text = String(scaled < 0n ? -scaled : scaled).padStart(digits + 1, "0");
  const whole = digits ? `${text.slice(0, -digits)}.${text.slice(-digits)}` : text;
  return scaled < 0n ? `-${whole}` : whole;
}

function toScaled(amount: string, digits: number): bigint {
  const [whole = "0", fraction = ""] = amount.split(".");
  return BigInt(`${whole}${fraction.padEnd(digits, "0")}`);
}
