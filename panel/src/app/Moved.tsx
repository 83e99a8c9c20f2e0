import { useQuery } from "@tanstack/react-query";
import { Navigate, Outlet, useLocation } from "react-router";
import { whatIs } from "../api/operator";
import { Loading } from "../components/Loading";
import { within } from "./place";
import { useChoice, useMay } from "./Project";

/** An address without a project leads to the same page of the project that has its object, else of the one that was looked at last. */
export function Moved() {
  const { projects, slug } = useChoice();
  const { pathname, search, hash } = useLocation();
  const id = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/.exec(pathname)?.[0] ?? "";
  const searched = useMay("platform:read") && projects.length > 1 && id !== "";
  const found = useQuery({ ...whatIs(id), enabled: searched });
  if (!slug) return <Outlet />;
  if (searched && found.isPending) return <Loading />;
  const owner = found.data?.items.find((each) => projects.some((other) => other.slug === each.project))?.project;
  return <Navigate to={{ pathname: within(owner ?? slug, pathname), search, hash }} replace />;
}
