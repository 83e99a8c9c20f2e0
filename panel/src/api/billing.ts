import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, body, ofSession, type Schemas, toError } from "./client";
import { key } from "./queries";

export type Summary = Schemas["Summary"];
export type Report = Schemas["Report"];
export type InvoiceRow = Schemas["InvoiceRow"];
export type Budget = Schemas["Budget"];

/** Whose money: that of a project, or of a billing account, for whoever pays without having a project. */
export type BillingScope = { project: string } | { account: string };

/** An account has no stream of events: what is shown of it is read again this often. */
const ACCOUNT_MS = 30_000;

/** The key of what belongs to a project, or to an account. */
export const keyOf = (scope: BillingScope, ...rest: unknown[]) => ("project" in scope ? key(scope.project, ...rest) : ["account", scope.account, ...rest]);
export const watched = (scope: BillingScope) => ({ refetchInterval: "account" in scope ? ACCOUNT_MS : (false as const) });

/** The body of an answer that other formats have too: the panel asks for JSON. */
const json = async <T>(answer: Promise<{ data?: T }>) => (await body(answer)) as Exclude<T, string>;

/** The spend of a month, such as `2026-10`; without one, of the present month. */
export const spend = (scope: BillingScope, month?: string) =>
  queryOptions({
    queryKey: keyOf(scope, "summary", month),
    queryFn: ({ signal }) => body("project" in scope
      ? api.GET("/v1/projects/{project}/billing/summary", { signal, params: { path: scope, query: { month } } })
      : api.GET("/v1/billing/accounts/{account}/summary", { signal, params: { path: scope, query: { month } } })),
    placeholderData: keepPreviousData,
    ...watched(scope),
  });

/** The cost of each UTC day of a period by `group`, such as `cluster` or `tag:team`; without `until`, to the present hour. */
export const dailyCost = (scope: BillingScope, period: { since: string; until?: string }, group: string) =>
  queryOptions({
    queryKey: keyOf(scope, "report", period, group),
    queryFn: ({ signal }): Promise<Report> => {
      const query = { ...period, group_by: ["day", group] };
      return "project" in scope
        ? json(api.GET("/v1/projects/{project}/billing/report", { signal, params: { path: scope, query } }))
        : json(api.GET("/v1/billing/accounts/{account}/report", { signal, params: { path: scope, query } }));
    },
    placeholderData: keepPreviousData,
    enabled: period.since !== "",
  });

export const invoicePage = (scope: BillingScope, query: { kind?: "invoice" | "credit_note"; cursor?: string; limit: number; order: Schemas["Order"] }) =>
  queryOptions({
    queryKey: keyOf(scope, "invoices", query),
    queryFn: ({ signal }) => body("project" in scope
      ? api.GET("/v1/projects/{project}/billing/invoices", { signal, params: { path: scope, query } })
      : api.GET("/v1/billing/accounts/{account}/invoices", { signal, params: { path: scope, query } })),
    placeholderData: keepPreviousData,
    ...watched(scope),
  });

/** An invoice or credit note by its number; `draft` is what the invoice of a project for a month, or for this one so far, would say. */
export const invoice = (scope: BillingScope, number: string, month?: string) =>
  queryOptions({
    queryKey: keyOf(scope, "invoice", number, month),
    queryFn: ({ signal }): Promise<Schemas["Invoice"]> => {
      if ("account" in scope) return json(api.GET("/v1/billing/invoices/{number}", { signal, params: { path: { number } } }));
      if (number === "draft") return json(api.GET("/v1/projects/{project}/billing/invoices/draft", { signal, params: { path: scope, query: { month } } }));
      return json(api.GET("/v1/projects/{project}/billing/invoices/{number}", { signal, params: { path: { ...scope, number } } }));
    },
  });

const invoiceFile = (scope: BillingScope, number: string, format: string, month?: string) =>
  ofSession(`/v1/${"project" in scope ? `projects/${scope.project}/` : ""}billing/invoices/${number}?${new URLSearchParams({ format, ...(month && { month }) })}`);

export const invoicePdf = (scope: BillingScope, number: string, month?: string) => invoiceFile(scope, number, "pdf", month);

export const E_INVOICES = ["factur-x", "cii", "ubl", "xrechnung", "peppol"] as const;
export type EInvoice = (typeof E_INVOICES)[number];

export async function eInvoice(scope: BillingScope, number: string, format: EInvoice): Promise<Blob> {
  const response = await fetch(invoiceFile(scope, number, format), { credentials: "same-origin" });
  if (!response.ok) throw await toError(response);
  return response.blob();
}

/** Budgets that match, with their figures of the present month: without a query all, at most 100. */
export const budgets = (scope: BillingScope, query: { q?: string; order?: Schemas["NamedOrder"] } = {}) =>
  queryOptions({
    queryKey: keyOf(scope, "budgets", query),
    queryFn: ({ signal }) => body("project" in scope
      ? api.GET("/v1/projects/{project}/budgets", { signal, params: { path: scope, query } })
      : api.GET("/v1/billing/accounts/{account}/budgets", { signal, params: { path: scope, query } })),
    placeholderData: keepPreviousData,
    ...watched(scope),
  });

export const createBudget = (project: string, wanted: Schemas["BudgetCreate"]) =>
  body(api.POST("/v1/projects/{project}/budgets", { params: { path: { project } }, body: wanted }));

/** Changes a budget, if it still is as it was seen. */
export const patchBudget = (project: string, seen: Budget, patch: Schemas["BudgetPatch"]) =>
  body(api.PATCH("/v1/projects/{project}/budgets/{budget}", { params: { path: { project, budget: seen.id }, header: { "If-Match": `"${seen.version}"` } }, body: patch }));

export const deleteBudget = (project: string, budget: string) =>
  api.DELETE("/v1/projects/{project}/budgets/{budget}", { params: { path: { project, budget } } });

export const funds = (scope: BillingScope) =>
  queryOptions({
    queryKey: keyOf(scope, "funds"),
    queryFn: ({ signal }) => body("project" in scope
      ? api.GET("/v1/projects/{project}/billing/funds", { signal, params: { path: scope } })
      : api.GET("/v1/billing/accounts/{account}/prepaid", { signal, params: { path: scope } })),
    ...watched(scope),
  });

/** Promotional credits in the order in which they expire. */
export const credits = (scope: BillingScope) =>
  queryOptions({
    queryKey: keyOf(scope, "credits"),
    queryFn: ({ signal }) => body("project" in scope
      ? api.GET("/v1/projects/{project}/billing/credits", { signal, params: { path: scope } })
      : api.GET("/v1/billing/accounts/{account}/credits", { signal, params: { path: scope } })),
    ...watched(scope),
  });

export const topUp = (project: string, amount: Schemas["Money"]) =>
  body(api.POST("/v1/projects/{project}/billing/top-ups", { params: { path: { project }, header: { "Idempotency-Key": "" } }, body: { amount } }));

export const account = (id: string) =>
  queryOptions({
    queryKey: ["account", id],
    queryFn: ({ signal }) => body(api.GET("/v1/billing/accounts/{account}", { signal, params: { path: { account: id } } })),
  });

export const payments = (id: string, query: { direction?: "in" | "out"; state?: "pending" | "done" | "failed"; cursor?: string; limit: number; order: Schemas["Order"] }) =>
  queryOptions({
    queryKey: ["account", id, "payments", query],
    queryFn: ({ signal }) => body(api.GET("/v1/billing/accounts/{account}/payments", { signal, params: { path: { account: id }, query } })),
    placeholderData: keepPreviousData,
    refetchInterval: ACCOUNT_MS,
  });

export const accountEvents = (id: string, query: { cursor?: string; limit: number }) =>
  queryOptions({
    queryKey: ["account", id, "events", query],
    queryFn: ({ signal }) => body(api.GET("/v1/billing/accounts/{account}/events", { signal, params: { path: { account: id }, query } })),
    placeholderData: keepPreviousData,
    refetchInterval: ACCOUNT_MS,
  });
