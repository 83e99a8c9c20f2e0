import { useQuery } from "@tanstack/react-query";
import { createContext, use, useEffect, type ReactNode } from "react";
import { useLocation } from "react-router";
import { projects, whoami } from "../api/session";
import type { Schemas } from "../api/client";
import { Failure } from "../components/Failure";
import { Loading } from "../components/Loading";
import { projectOf } from "./place";

type Choice = {
  who: Schemas["Whoami"];
  projects: Schemas["Project"][];
  slug: string;
  /** The project of the address, if whoever is signed in does not see it. */
  unseen: string | undefined;
};

const Chosen = createContext<Choice | null>(null);

export function useChoice(): Choice {
  const choice = use(Chosen);
  if (!choice) throw new Error("pages are shown within <Project>");
  return choice;
}

/** The project that the pages show; empty for a token that has none. */
export const useProject = () => useChoice().slug;

/** The same, also where nobody is signed in. */
export const useOwnProject = () => use(Chosen)?.slug ?? "";

/** Whether the signed-in token has a permission, such as `cluster:write`. */
export const useMay = (permission: string) => useChoice().who.scopes.includes(permission);

/** Whoever is signed in, and the project they look at: that of the address, else the token's own, or the one they looked at last. */
export function Project({ children }: { children: ReactNode }) {
  const who = useQuery(whoami);
  const own = who.data?.project ?? null;
  const listed = useQuery({ ...projects, enabled: who.data !== undefined && own === null && who.data.scopes.includes("project:read") });
  const asked = projectOf(useLocation().pathname);
  useEffect(() => {
    if (!asked) return;
    sessionStorage.setItem("project", asked);
    localStorage.setItem("project", asked);
  }, [asked]);
  const error = (who.data ? null : who.error) ?? (listed.data ? null : listed.error); // what was read stays while the service does not answer
  if (error) return <Failure error={error} retry={() => void (who.data ? listed : who).refetch()} />;
  if (!who.data || listed.isLoading) return <Loading />;
  const all = own ? [own] : (listed.data?.items ?? []);
  const seen = (slug: string | null | undefined) => all.find((each) => each.slug === slug);
  const current = asked ? seen(asked) : (seen(sessionStorage.getItem("project") ?? localStorage.getItem("project")) ?? all[0]);
  return <Chosen value={{ who: who.data, projects: all, slug: current?.slug ?? "", unseen: current ? undefined : asked }}>{children}</Chosen>;
}
