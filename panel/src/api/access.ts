import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, body, type Schemas } from "./client";
import { key } from "./queries";

export type Token = Schemas["Token"];
export type Webhook = Schemas["Webhook"];
export type Delivery = Schemas["Delivery"];
type Listed = { order: Schemas["Order"]; limit: number; cursor?: string };

export const tokenPage = (project: string, query: Listed & { active?: boolean }) =>
  queryOptions({
    queryKey: key(project, "tokens", query),
    queryFn: ({ signal }) => body(api.GET("/v1/projects/{project}/tokens", { signal, params: { path: { project }, query } })),
    placeholderData: keepPreviousData,
  });

export const createToken = (project: string, wanted: Schemas["TokenCreate"]) =>
  body(api.POST("/v1/projects/{project}/tokens", { params: { path: { project } }, body: wanted }));

/** Replaces a token's secret; the old one works for so many seconds more. */
export const rotateToken = (project: string, token: string, keep_previous_seconds: number) =>
  body(api.POST("/v1/projects/{project}/tokens/{token}:rotate", { params: { path: { project, token } }, body: { keep_previous_seconds } }));

export const revokeToken = (project: string, token: string) =>
  api.DELETE("/v1/projects/{project}/tokens/{token}", { params: { path: { project, token } } });

export const webhookPage = (project: string, query: Listed & { enabled?: boolean }) =>
  queryOptions({
    queryKey: key(project, "webhooks", query),
    queryFn: ({ signal }) => body(api.GET("/v1/projects/{project}/webhooks", { signal, params: { path: { project }, query } })),
    placeholderData: keepPreviousData,
  });

export const webhook = (project: string, id: string) =>
  queryOptions({
    queryKey: key(project, "webhook", id),
    queryFn: ({ signal }) => body(api.GET("/v1/projects/{project}/webhooks/{webhook}", { signal, params: { path: { project, webhook: id } } })),
  });

const TRIED_MS = 3_000;
/** Attempts have no events: while one is due soon, deliveries are read again. */
const soon = (each: Delivery) => each.state === "pending" && each.next_try_at !== null && Date.parse(each.next_try_at) - Date.now() < 60_000;

export const deliveryPage = (project: string, webhook: string, query: Listed & { state?: Schemas["DeliveryState"] }) =>
  queryOptions({
    queryKey: key(project, "deliveries", webhook, query),
    queryFn: ({ signal }) =>
      body(api.GET("/v1/projects/{project}/webhooks/{webhook}/deliveries", { signal, params: { path: { project, webhook }, query } })),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data?.items.some(soon) ? TRIED_MS : false),
  });

export const createWebhook = (project: string, wanted: Schemas["WebhookCreate"]) =>
  body(api.POST("/v1/projects/{project}/webhooks", { params: { path: { project } }, body: wanted }));

/** Changes a webhook, if it still is as it was seen. */
export const patchWebhook = (project: string, seen: Webhook, patch: Schemas["WebhookPatch"]) =>
  body(api.PATCH("/v1/projects/{project}/webhooks/{webhook}", {
    params: { path: { project, webhook: seen.id }, header: { "If-Match": `"${seen.version}"` } }, body: patch,
  }));

export const deleteWebhook = (project: string, id: string) =>
  api.DELETE("/v1/projects/{project}/webhooks/{webhook}", { params: { path: { project, webhook: id } } });

export const pingWebhook = (project: string, id: string) =>
  body(api.POST("/v1/projects/{project}/webhooks/{webhook}:ping", { params: { path: { project, webhook: id } } }));

export const newSecret = (project: string, id: string) =>
  body(api.POST("/v1/projects/{project}/webhooks/{webhook}:rotate-secret", { params: { path: { project, webhook: id } }, body: {} }));

export const redeliver = (project: string, webhook: string, delivery: string) =>
  body(api.POST("/v1/projects/{project}/webhooks/{webhook}/deliveries/{delivery}:redeliver", { params: { path: { project, webhook, delivery } } }));
