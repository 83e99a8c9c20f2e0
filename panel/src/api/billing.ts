import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, body, type Schemas } from "./client";
import { key } from "./queries";

export type Summary = Schemas["Summary"];
export type Report = Schemas["Report"];
export type InvoiceRow = Schemas["InvoiceRow"];

/** The body of an answer that other formats have too: the panel asks for JSON. */
const json = async <T>(answer: Promise<{ data?: T }>) => (await body(answer)) as Exclude<T, string>;

/** The spend of a month, such as `2026-10`; without one, of the present month. */
export const spend = (project: string, month?: string) =>
  queryOptions({
    queryKey: key(project, "summary", month),
    queryFn: ({ signal }) => body(api.GET("/v1/projects/{project}/billing/summary", { signal, params: { path: { project }, query: { month } } })),
    placeholderData: keepPreviousData,
  });

/** The cost of each UTC day of a period by `group`, such as `cluster` or `tag:team`; without `until`, to the present hour. */
export const dailyCost = (project: string, query: { since: string; until?: string }, group: string) =>
  queryOptions({
    queryKey: key(project, "report", query, group),
    queryFn: ({ signal }) =>
      json(api.GET("/v1/projects/{project}/billing/report", { signal, params: { path: { project }, query: { ...query, group_by: ["day", group] } } })),
    placeholderData: keepPreviousData,
    enabled: query.since !== "",
  });

export const invoicePage = (project: string, query: { cursor?: string; limit: number }) =>
  queryOptions({
    queryKey: key(project, "invoices", query),
    queryFn: ({ signal }) => body(api.GET("/v1/projects/{project}/billing/invoices", { signal, params: { path: { project }, query } })),
    placeholderData: keepPreviousData,
  });

/** An invoice or credit note by its number; `draft` is what an invoice for the month so far would say. */
export const invoice = (project: string, number: string) =>
  queryOptions({
    queryKey: key(project, "invoice", number),
    queryFn: ({ signal }): Promise<Schemas["Invoice"]> => number === "draft"
      ? json(api.GET("/v1/projects/{project}/billing/invoices/draft", { signal, params: { path: { project } } }))
      : json(api.GET("/v1/projects/{project}/billing/invoices/{number}", { signal, params: { path: { project, number } } })),
  });

export const invoicePdf = (project: string, number: string) => `/v1/projects/${project}/billing/invoices/${number}?format=pdf`;
