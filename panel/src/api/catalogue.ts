import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, body, type Schemas } from "./client";
import { key } from "./queries";

export type Flavor = Schemas["Flavor"];
export type MachineType = Schemas["MachineType"];
export type Ipu = Schemas["IpuGeneration"];
export type Image = Schemas["Image"];
export type Tool = Schemas["Tool"];
export type ToolKind = Schemas["ToolKind"];
export type Recipe = Schemas["Recipe"];
export type RecipeOffer = Schemas["RecipeOffer"];
export type RecipeTask = Schemas["RecipeTask"];
export type Price = Schemas["PaidPrice"];
type Money = Schemas["Money"];

const FACTS_MS = 600_000;
const PRICES_MS = 60_000;

export const machineTypes = queryOptions({
  queryKey: ["machine types"],
  queryFn: ({ signal }) => body(api.GET("/v1/hardware/machines", { signal })),
  staleTime: FACTS_MS,
});

export const ipus = queryOptions({
  queryKey: ["ipus"],
  queryFn: ({ signal }) => body(api.GET("/v1/hardware/ipus", { signal })),
  staleTime: FACTS_MS,
});

export const tools = (kind: ToolKind | undefined) =>
  queryOptions({
    queryKey: ["tools", kind],
    queryFn: ({ signal }) => body(api.GET("/v1/tools", { signal, params: { query: { kind } } })),
    staleTime: FACTS_MS,
    placeholderData: keepPreviousData,
  });

export const recipes = (task: RecipeTask | undefined) =>
  queryOptions({
    queryKey: ["recipes", task],
    queryFn: ({ signal }) => body(api.GET("/v1/recipes", { signal, params: { query: { task } } })),
    staleTime: FACTS_MS,
    placeholderData: keepPreviousData,
  });

/** A recipe, the job that runs it, and the smallest flavor of a region for it; without a region, of the first that has one. */
export const recipe = (id: string, region?: string) =>
  queryOptions({
    queryKey: ["recipe", id, region],
    queryFn: ({ signal }) => body(api.GET("/v1/recipes/{recipe}", { signal, params: { path: { recipe: id }, query: { region } } })),
    staleTime: FACTS_MS,
  });

/** What the project pays: contract prices of its account, else list prices, now and later. */
export const projectPrices = (project: string) =>
  queryOptions({
    queryKey: key(project, "prices"),
    queryFn: ({ signal }) => body(api.GET("/v1/projects/{project}/prices", { signal, params: { path: { project } } })),
    staleTime: PRICES_MS,
    enabled: project !== "",
  });

export type Article = { sku: string; region: string; currency: string };

/** The price of a machine-minute that is in force at an instant (Unix time in ms). */
export function priceAt(prices: Price[], article: Article, now: number): Price | undefined {
  return prices.find((each) => each.sku === article.sku && each.region === article.region && each.unit_price.currency === article.currency
    && Date.parse(each.valid_from) <= now && (each.valid_to === null || now < Date.parse(each.valid_to)));
}

/** The SKU of reserved minutes. Where it has no price, reservations are not offered. */
export const reservedSku = (sku: string) => `${sku}-reserved`;

/** Those of the API's price per month. */
export const HOURS_PER_MONTH = 730;
/** An amount many times, to be shown: bills are calculated by the service. */
export const times = (money: Money, factor: number): Money => ({ ...money, amount: String(Number(money.amount) * factor) });
