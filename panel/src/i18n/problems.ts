import type { ApiError, Schemas } from "../api/client";

/** Sentences for the API's codes, in a language that it does not speak itself. */
export type Problems = {
  codes: Record<string, string | ((members: Record<string, unknown>) => string)>;
  /** Of single fields; some have a number, such as the least value. */
  fields: Record<string, string | ((number: string) => string)>;
};

export const SPOKEN: Problems = { codes: {}, fields: {} };

/** What went wrong in the reader's language, as far as its code is known, and what the API says of it if that is more. */
export function sentenceOf(problems: Problems, error: ApiError): { text: string; original?: string } {
  const known = problems.codes[error.code];
  if (known === undefined) return { text: error.message };
  return { text: typeof known === "string" ? known : known(error.members), original: error.message };
}

export function faultOf(problems: Problems, { code, detail }: Schemas["FieldError"]): string {
  const known = problems.fields[code];
  if (known === undefined || typeof known === "string") return known ?? detail;
  const number = /-?\d+(?:\.\d+)?/.exec(detail)?.[0];
  return number === undefined ? detail : known(number);
}
