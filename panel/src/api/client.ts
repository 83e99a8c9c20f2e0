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
    /** What some codes have beside these, such as `limit`. */
    readonly members: Record<string, unknown> = {},
  ) {
    super(message);
  }
}

export async function toError(response: Response): Promise<ApiError> {
  const requestId = response.headers.get("Request-Id");
  const body = (await response.clone().json().catch(() => ({}))) as Partial<Schemas["Problem"]>;
  const sentence = body.detail ?? body.title ?? response.statusText;
  return new ApiError(response.status, body.code ?? "unknown", sentence, body.request_id ?? requestId, body.errors ?? [], body);
}

/** Whether an answer tells that a change was made or refused. Whoever must sign in again, wait, or ask an answering service may
 *  have asked before, and that may have succeeded. */
const decides = (error: ApiError | null) => !error || (error.status < 500 && ![401, 429].includes(error.status) && error.code !== "idempotency_in_progress");

/** `crypto.randomUUID` does not exist where the panel is served by plain HTTP. */
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Keys of changes to which no answer has come: whoever asks for the same again, in this tab, asks for that one. */
const unanswered = new Map<string, string>();

const conventions: Middleware = {
  async onRequest({ request }) {
    if (!["POST", "PATCH"].includes(request.method)) return request;
    if (/\/v1\/(session|invitations:accept)/.test(request.url)) {
      request.headers.set("Idempotency-Key", randomKey()); // passwords are not kept
      return request;
    }
    const change = `${request.method} ${request.url} ${await request.clone().text()}`;
    const key = unanswered.get(change) ?? randomKey();
    unanswered.set(change, key);
    request.headers.set("Idempotency-Key", key);
    return request;
  },
  async onResponse({ request, response }) {
    const error = response.ok ? null : await toError(response);
    if (decides(error)) {
      for (const [change, key] of unanswered) if (key === request.headers.get("Idempotency-Key")) unanswered.delete(change);
    }
    if (error) throw error;
  },
};

const SESSION_PATH = "session-path";

/** Over plain HTTP the browser sends the session's cookie only below a path that no other port of this host can know: this
 *  storage is the origin's, of which the port is a part, and all tabs have it. */
export function keepSessionPath(path: string | null): void {
  if (path) localStorage.setItem(SESSION_PATH, path);
  else localStorage.removeItem(SESSION_PATH);
}

/** Where this browser's session reaches a path of the API. */
export const ofSession = (path: string) => `${globalThis.localStorage?.getItem(SESSION_PATH) ?? ""}${path}`;

const origin = globalThis.location?.origin ?? "";

class SessionRequest extends Request {
  constructor(url: RequestInfo | URL, init?: RequestInit) {
    super(typeof url === "string" ? origin + ofSession(url.slice(origin.length)) : url, init);
  }
}

export const api = createClient<paths>({ baseUrl: origin, credentials: "same-origin", Request: SessionRequest, fetch: (request) => fetch(request) });
api.use(conventions);

/** The body of an answer: errors were thrown before (`conventions`). */
export async function body<T>(answer: Promise<{ data?: T }>): Promise<T> {
  return (await answer).data as T;
}
