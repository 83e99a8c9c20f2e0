import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, body, type Schemas } from "./client";
import { key } from "./queries";

export type Member = Schemas["Member"];
export type Invitation = Schemas["Invitation"];
export type ProjectRole = Schemas["InvitationCreate"]["role"];
type Listed = { order: Schemas["Order"]; limit: number; cursor?: string };

export const ROLES: ProjectRole[] = ["viewer", "operator", "billing", "owner"];

/** Who is signed in as a person, and where a member. */
export const me = queryOptions({
  queryKey: ["me"],
  queryFn: ({ signal }) => body(api.GET("/v1/me", { signal })),
  staleTime: 60_000,
});

export const memberPage = (project: string, query: Listed & { role?: ProjectRole; email?: string }) =>
  queryOptions({
    queryKey: key(project, "members", query),
    queryFn: ({ signal }) => body(api.GET("/v1/projects/{project}/members", { signal, params: { path: { project }, query } })),
    placeholderData: keepPreviousData,
  });

export const invitationPage = (project: string, query: Listed & { open?: boolean }) =>
  queryOptions({
    queryKey: key(project, "invitations", query),
    queryFn: ({ signal }) => body(api.GET("/v1/projects/{project}/invitations", { signal, params: { path: { project }, query } })),
    placeholderData: keepPreviousData,
  });

export const setRole = (project: string, member: string, role: ProjectRole) =>
  body(api.PATCH("/v1/projects/{project}/members/{member}", { params: { path: { project, member } }, body: { role } }));

export const limitMember = (project: string, member: string, sources: string[]) =>
  body(api.PATCH("/v1/projects/{project}/members/{member}", { params: { path: { project, member } }, body: { allowed_sources: sources } }));

export const removeMember = (project: string, member: string) =>
  api.DELETE("/v1/projects/{project}/members/{member}", { params: { path: { project, member } } });

export const invite = (project: string, wanted: Schemas["InvitationCreate"]) =>
  body(api.POST("/v1/projects/{project}/invitations", { params: { path: { project } }, body: wanted }));

/** Makes another link; the former one ends. */
export const renewInvitation = (project: string, invitation: string) =>
  body(api.POST("/v1/projects/{project}/invitations/{invitation}:renew", { params: { path: { project, invitation } } }));

export const revokeInvitation = (project: string, invitation: string) =>
  api.DELETE("/v1/projects/{project}/invitations/{invitation}", { params: { path: { project, invitation } } });

export const showInvitation = (secret: string) => body(api.POST("/v1/invitations:show", { body: { secret } }));

export const acceptInvitation = (secret: string, password: string) =>
  body(api.POST("/v1/invitations:accept", { body: { secret, password } }));

export const switchSession = (membership_id: string) => body(api.PUT("/v1/session/membership", { body: { membership_id } }));

/** What the person gets by e-mail. */
export const notifications = queryOptions({
  queryKey: ["notifications"],
  queryFn: ({ signal }) => body(api.GET("/v1/me/notifications", { signal })),
});

export const replaceNotifications = (language: string, subscriptions: { project: string; event_types: string[] }[]) =>
  body(api.PUT("/v1/me/notifications", { body: { language, subscriptions } as Schemas["NotificationsReplace"] }));
