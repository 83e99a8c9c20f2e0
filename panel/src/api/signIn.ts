import { queryOptions } from "@tanstack/react-query";
import { api, body } from "./client";

/** The identity providers of the installation; none: people sign in with passwords. */
export const signInProviders = queryOptions({
  queryKey: ["sign-in-providers"],
  queryFn: ({ signal }) => body(api.GET("/v1/sign-in-providers", { signal })),
  staleTime: 600_000,
});

/** Leaves the panel for the provider, which returns the browser to `/sign-in/callback`. */
export async function goToProvider(provider: string, invitation: string | null = null, next = "/"): Promise<void> {
  const begun = await body(api.POST("/v1/sign-in-providers/{provider}/sign-ins", { params: { path: { provider } }, body: { invitation } }));
  sessionStorage.setItem(NEXT, next);
  location.assign(begun.url);
}

const NEXT = "sign-in-next";

/** Where the person was going before they signed in; a path of the panel. */
export function takeNext(): string {
  const next = sessionStorage.getItem(NEXT) ?? "/";
  sessionStorage.removeItem(NEXT);
  return ownPath(next);
}

/** The path if it is one of this panel, and not another site's address. */
export const ownPath = (path: string | null) => (path && /^\/(?![/\\])/.test(path) ? path : "/");

export const showDevice = (user_code: string) => body(api.POST("/v1/login/devices:show", { body: { user_code } }));
export const approveDevice = (user_code: string) => api.POST("/v1/login/devices:approve", { body: { user_code } });
export const denyDevice = (user_code: string) => api.POST("/v1/login/devices:deny", { body: { user_code } });
