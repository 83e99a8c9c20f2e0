/** A row's members as cells: texts and numbers as they are, everything else as JSON. */
const cell = (value: unknown) => {
  const text = value === null || value === undefined ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
  // A spreadsheet takes what begins so for a formula; the last four are = + - @ in full width.
  const plain = /^[=+\-@\t\r\0\uff1d\uff0b\uff0d\uff20]/.test(text) && typeof value === "string" ? `'${text}` : text;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
};

/** Objects of a list as CSV (RFC 4180), with the API's names of their members as header. */
export function csvOf(items: object[]): string {
  const names = [...new Set(items.flatMap((each) => Object.keys(each)))];
  const rows = items.map((each) => names.map((name) => cell((each as Record<string, unknown>)[name])));
  return [names, ...rows].map((row) => `${row.join(",")}\r\n`).join("");
}
