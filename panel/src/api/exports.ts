import { queryOptions } from "@tanstack/react-query";
import { api, body, type Schemas } from "./client";
import { key } from "./queries";

export type Export = Schemas["Export"];

const BUILDING_MS = 2_000;
const DONE = ["succeeded", "failed", "cancelled"];

/** The newest 200 exports of a project; read again while one is being made. */
export const exports = (project: string) =>
  queryOptions({
    queryKey: key(project, "exports"),
    queryFn: ({ signal }) => body(api.GET("/v1/projects/{project}/billing/exports", { signal, params: { path: { project } } })),
    refetchInterval: ({ state }) => (state.data?.items.some((each) => !DONE.includes(each.state)) ? BUILDING_MS : false),
  });

export const schedules = (project: string) =>
  queryOptions({
    queryKey: key(project, "export schedules"),
    queryFn: ({ signal }) => body(api.GET("/v1/projects/{project}/billing/export-schedules", { signal, params: { path: { project } } })),
  });

export const connections = (project: string) =>
  queryOptions({
    queryKey: key(project, "s3 connections"),
    queryFn: ({ signal }) => body(api.GET("/v1/projects/{project}/s3-connections", { signal, params: { path: { project } } })),
  });

export const fileOf = (project: string, id: string) => `/v1/projects/${encodeURIComponent(project)}/billing/exports/${id}/file`;

export const createExport = (project: string, wanted: Schemas["ExportCreate"]) =>
  body(api.POST("/v1/projects/{project}/billing/exports", { params: { path: { project } }, body: wanted }));

export const createSchedule = (project: string, wanted: Schemas["ExportScheduleCreate"]) =>
  body(api.POST("/v1/projects/{project}/billing/export-schedules", { params: { path: { project } }, body: wanted }));

export const deleteSchedule = (project: string, schedule: string) =>
  api.DELETE("/v1/projects/{project}/billing/export-schedules/{schedule}", { params: { path: { project, schedule } } });

export const createConnection = (project: string, wanted: Schemas["S3ConnectionCreate"]) =>
  body(api.POST("/v1/projects/{project}/s3-connections", { params: { path: { project } }, body: wanted }));

export const testConnection = (project: string, connection: string) =>
  body(api.POST("/v1/projects/{project}/s3-connections/{connection}:test", { params: { path: { project, connection } } }));

export const offerConnection = (project: string, connection: string, attachable: boolean) =>
  body(api.PATCH("/v1/projects/{project}/s3-connections/{connection}", { params: { path: { project, connection } }, body: { attachable } }));

export const deleteConnection = (project: string, connection: string) =>
  api.DELETE("/v1/projects/{project}/s3-connections/{connection}", { params: { path: { project, connection } } });
