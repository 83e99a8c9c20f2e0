import createClient, { type Middleware } from "openapi-fetch";
import type { components, paths } from "./schema";

export type Schemas = components["schemas"];

/** An error as the API describes it: a stable code, a sentence, and the id of the request for the operator. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly requestId: string | null,
    readonly fields: Schemas["FieldError"][] = [],
  ) {
    super(message);
  }
}

export async function toError(response: Response): Promise<ApiError> {
  const requestId = response.headers.get("Request-Id");
  const body = (await response.clone().json().catch(() => ({}))) as Partial<Schemas["Problem"]>;
  const sentence = body.detail ?? body.title ?? response.statusText;
  return new ApiError(response.status, body.code ?? "unknown", sentence, body.request_id ?? requestId, body.errors ?? []);
}

/** `crypto.randomUUID` does not exist where the panel is served by plain HTTP. */
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

const conventions: Middleware = {
  onRequest({ request }) {
    if (["POST", "PATCH"].includes(request.method)) request.headers.set("Idempotency-Key", randomKey());
    return request;
  },
  async onResponse({ response }) {
    if (!response.ok) throw await toError(response);
  },
};

const origin = globalThis.location?.origin ?? "";
export const api = createClient<paths>({ baseUrl: origin, credentials: "same-origin", fetch: (request) => fetch(request) });
api.use(conventions);

/** The body of an answer: errors were thrown before (`conventions`). */
export async function body<T>(answer: Promise<{ data?: T }>): Promise<T> {
  return (await answer).data as T;
}
