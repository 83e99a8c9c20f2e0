import { useQuery } from "@tanstack/react-query";
import { createContext, use, useState, type ReactNode } from "react";
import { projects, whoami } from "../api/session";
import type { Schemas } from "../api/client";
import { Failure } from "../components/Failure";
import { Loading } from "../components/Loading";

type Choice = {
  who: Schemas["Whoami"];
  projects: Schemas["Project"][];
  slug: string;
  choose: (slug: string) => void;
};

const Chosen = createContext<Choice | null>(null);

export function useChoice(): Choice {
  const choice = use(Chosen);
  if (!choice) throw new Error("pages are shown within <Project>");
  return choice;
}

/** The project that the pages show; empty for a token that has none. */
export const useProject = () => useChoice().slug;

/** Whether the signed-in token has a permission, such as `cluster:write`. */
export const useMay = (permission: string) => useChoice().who.scopes.includes(permission);

/** Whoever is signed in, and the project they look at: the token's own, or the one they chose last. */
export function Project({ children }: { children: ReactNode }) {
  const who = useQuery(whoami);
  const own = who.data?.project ?? null;
  const listed = useQuery({ ...projects, enabled: who.data !== undefined && own === null && who.data.scopes.includes("project:read") });
  const [chosen, setChosen] = useState(() => sessionStorage.getItem("project") ?? localStorage.getItem("project") ?? "");
  const error = (who.data ? null : who.error) ?? (listed.data ? null : listed.error); // what was read stays while the service does not answer
  if (error) return <Failure error={error} retry={() => void (who.data ? listed : who).refetch()} />;
  if (!who.data || listed.isLoading) return <Loading />;
  const all = own ? [own] : (listed.data?.items ?? []);
  const current = all.find((each) => each.slug === chosen) ?? all[0];
  const choose = (slug: string) => {
    sessionStorage.setItem("project", slug);
    localStorage.setItem("project", slug);
    setChosen(slug);
  };
  return <Chosen value={{ who: who.data, projects: all, slug: current?.slug ?? "", choose }}>{children}</Chosen>;
}
