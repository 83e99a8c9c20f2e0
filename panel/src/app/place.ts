import { useCallback } from "react";
import { useLocation, useNavigate, type NavigateOptions } from "react-router";
import { useOwnProject } from "./Project";

const OF_NO_PROJECT = /^\/(p|operator|notifications|device|sign-in|invitation)(\/|$)/;
const OBJECT = /^\/(clusters|reservations|webhooks)\/[0-9a-f]{8}-/;

/** The page of an address, without the project that it begins with. */
export const pageOf = (pathname: string) => pathname.replace(/^\/p\/[^/]+/, "") || "/";

/** The project that an address begins with. */
export function projectOf(pathname: string): string | undefined {
  const [, slug] = /^\/p\/([^/]+)/.exec(pathname) ?? [];
  return slug && decodeURIComponent(slug);
}

export const within = (slug: string, page: string) => (slug && !OF_NO_PROJECT.test(page) ? `/p/${encodeURIComponent(slug)}${page === "/" ? "" : page}` : page);

/** The address of a page: links carry their project. What operators see of all projects is found by its id when the link is followed. */
export function useAddressOf(): (page: string) => string {
  const slug = useOwnProject();
  const { pathname } = useLocation();
  return useCallback((page) => (pathname.startsWith("/operator") && OBJECT.test(page) ? page : within(slug, page)), [slug, pathname]);
}

/** Goes to a page of the project. */
export function useGo(): (page: string, options?: NavigateOptions) => void {
  const go = useNavigate();
  const addressOf = useAddressOf();
  return useCallback((page, options) => void go(addressOf(page), options), [go, addressOf]);
}
