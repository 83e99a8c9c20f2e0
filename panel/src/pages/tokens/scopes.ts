import type { Schemas } from "../../api/client";

export type Role = Schemas["TokenCreate"]["role"];

/** What each role of a project may do, as in docs/security.md. */
export const SCOPES_OF: Record<Role, readonly string[]> = {
  viewer: ["catalogue:read", "cluster:read", "member:read", "project:read", "usage:read"],
  operator: ["catalogue:read", "cluster:read", "cluster:write", "member:read", "project:read", "ssh-key:write", "usage:read", "webhook:write"],
  billing: ["billing:read", "billing:write", "budget:write", "catalogue:read", "cluster:read", "member:read", "project:read", "s3-connection:write", "usage:read"],
  owner: ["audit-log:read", "billing:read", "billing:write", "budget:write", "catalogue:read", "cluster:read", "cluster:write", "member:read", "member:write", "project:read", "s3-connection:write", "ssh-key:write", "token:read", "token:write", "usage:read", "webhook:write"],
};

/** The scopes that somebody can give a token of a role: those of the role, and none that a narrowed token of their own lacks. */
export const givable = (role: Role, own: { narrowed: boolean; scopes: readonly string[] }) =>
  SCOPES_OF[role].filter((scope) => !own.narrowed || own.scopes.includes(scope));
