import { queryOptions } from "@tanstack/react-query";
import { api, body, keepSessionPath, ofSession, toError, type Schemas } from "./client";

/** Who is signed in: with a session's cookie the API answers as it does to the session's token. */
export const whoami = queryOptions({
  queryKey: ["whoami"],
  queryFn: ({ signal }) => body(api.GET("/v1/whoami", { signal })),
  staleTime: 60_000,
});

export const projects = queryOptions({
  queryKey: ["projects"],
  queryFn: ({ signal }) => body(api.GET("/v1/projects", { signal, params: { query: { limit: 1000 } } })),
  staleTime: 60_000,
});

export type SignInBy = { token: string } | { code: string } | { email: string; password: string; project?: string } | { authorization_code: string; state: string };

async function session(method: "POST" | "DELETE", what?: SignInBy): Promise<Response> {
  const response = await fetch(ofSession("/v1/session"), {
    method,
    credentials: "same-origin",
    headers: what && { "Content-Type": "application/json" },
    body: what && JSON.stringify(what),
  });
  if (!response.ok) throw await toError(response);
  return response;
}

export async function signIn(by: SignInBy): Promise<void> {
  const response = await session("POST", by);
  keepSessionPath(((await response.json()) as Schemas["NewSession"]).path);
}

/** Where the browser is still signed in: the identity provider, if it has a page to sign out there. */
export async function signOut(): Promise<Schemas["SignedInProvider"] | null> {
  const response = await session("DELETE");
  keepSessionPath(null);
  return ((await response.json()) as Schemas["SessionEnded"]).provider;
}
