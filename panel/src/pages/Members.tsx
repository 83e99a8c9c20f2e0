import Button from "@cloudscape-design/components/button";
import ButtonDropdown from "@cloudscape-design/components/button-dropdown";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import Table from "@cloudscape-design/components/table";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Schemas } from "../api/client";
import { ROLES, invitationPage, memberPage, type Invitation, type Member } from "../api/people";
import { useChoice, useMay, useProject } from "../app/Project";
import { Empty } from "../components/Empty";
import { FailedPage } from "../components/Failure";
import { Choice, optionsOf } from "../components/Choice";
import { Find, ListTable } from "../components/ListTable";
import { Pager } from "../components/Pager";
import { useCursor } from "../components/useCursor";
import { oneOf, useListView } from "../components/useListView";
import { later } from "../components/later";
import { useFormat, useStrings } from "../i18n";
import type { MemberChange } from "./members/ChangeMember";
import type { InvitationChange } from "./members/ChangeInvitation";

const Invite = later(async () => (await import("./members/Invite")).Invite, null);
const ChangeMember = later(async () => (await import("./members/ChangeMember")).ChangeMember, null);
const LimitMember = later(async () => (await import("./members/LimitMember")).LimitMember, null);
const ChangeInvitation = later(async () => (await import("./members/ChangeInvitation")).ChangeInvitation, null);
const Invited = later(async () => (await import("./members/Invited")).Invited, null);

/** The people of the project, and those who are invited. */
export function Members() {
  const { cluster, common, shell, members: s } = useStrings();
  const f = useFormat();
  const may = useMay("member:write");
  const { who } = useChoice();
  const view = useListView(["role", "email"], ["created_at", "-created_at"]);
  const role = oneOf(ROLES, view.value("role"));
  const { data, error, refetch } = useQuery(memberPage(useProject(), { role, email: view.value("email"), order: view.order, limit: 50, cursor: view.pages.cursor }));
  const [inviting, setInviting] = useState(false);
  const [asked, setAsked] = useState<{ change: MemberChange | "sources"; member: Member }>();
  const [made, setMade] = useState<Schemas["NewInvitation"]>();
  if (error && !data) return <FailedPage title={s.title} error={error} retry={() => void refetch()} />;
  const invite = may && <Button variant="primary" onClick={() => setInviting(true)}>{s.invite}</Button>;
  return (
    <SpaceBetween size="l">
      <ListTable
        variant="full-page"
        title={s.title}
        view={view}
        page={data}
        filters={
          <>
            <Find label={s.find} value={view.value("email")} onChange={(text) => view.filter("email", text)} />
            <Choice
              label={s.role}
              value={role ?? ""}
              options={optionsOf(common.all, ROLES, shell.roles)}
              onChange={(value) => view.filter("role", value)}
            />
          </>
        }
        header={<Header variant="awsui-h1-sticky" description={s.description} actions={invite}>{s.title}</Header>}
        columnDefinitions={[
          { id: "email", header: s.email, isRowHeader: true, cell: (each) => (each.email === who.token.owner ? s.you(each.email) : each.email) },
          { id: "role", header: s.role, cell: (each) => shell.roles[each.role] ?? each.role },
          { id: "verified", header: s.verified, cell: (each) => (each.verified ? common.yes : <StatusIndicator type="warning">{common.no}</StatusIndicator>) },
          { id: "sources", header: cluster.sources, cell: (each) => f.list(each.allowed_sources) || s.everywhere },
          { id: "since", header: s.since, sortingField: "created_at", cell: (each) => f.moment(each.since) },
          { id: "seen", header: s.lastSeen, cell: (each) => (each.last_seen_at ? f.moment(each.last_seen_at) : s.neverSeen) },
          ...(may ? [{
            id: "actions", header: common.actions,
            cell: (each: Member) => (
              <ButtonDropdown
                variant="inline-icon"
                expandToViewport
                ariaLabel={s.actionsOf(each.email)}
                items={[{ id: "role", text: s.changeRole }, { id: "sources", text: cluster.sources }, { id: "remove", text: s.remove }]}
                onItemClick={({ detail }) => setAsked({ change: detail.id as MemberChange | "sources", member: each })}
              />
            ),
          }] : []),
        ]}
        none={<Empty title={s.emptyTitle} text={s.emptyText} />}
      />
      <Invitations onMade={setMade} />
      {inviting && <Invite onClose={(invitation) => { setInviting(false); setMade(invitation); }} />}
      {asked?.change === "sources" && <LimitMember member={asked.member} onClose={() => setAsked(undefined)} />}
      {asked && asked.change !== "sources" && <ChangeMember change={asked.change} member={asked.member} onClose={() => setAsked(undefined)} />}
      {made && <Invited made={made} onClose={() => setMade(undefined)} />}
    </SpaceBetween>
  );
}

function Invitations({ onMade }: { onMade: (made?: Schemas["NewInvitation"]) => void }) {
  const { common, shell, members: s } = useStrings();
  const f = useFormat();
  const may = useMay("member:write");
  const pages = useCursor();
  const { data, isPending } = useQuery(invitationPage(useProject(), { order: "-created_at", limit: 20, cursor: pages.cursor }));
  const [asked, setAsked] = useState<{ change: InvitationChange; invitation: Invitation }>();
  return (
    <>
      <Table
        trackBy="id"
        items={data?.items ?? []}
        loading={isPending}
        loadingText={common.loading}
        ariaLabels={{ tableLabel: s.invitations }}
        header={<Header variant="h2">{s.invitations}</Header>}
        columnDefinitions={[
          { id: "email", header: s.email, isRowHeader: true, cell: (each) => each.email },
          { id: "role", header: s.role, cell: (each) => shell.roles[each.role] ?? each.role },
          { id: "state", header: common.state, cell: (each) => s.states[each.state] ?? each.state },
          { id: "by", header: s.invitedBy, cell: (each) => each.invited_by ?? common.none },
          { id: "expires", header: s.expires, cell: (each) => f.moment(each.expires_at) },
          ...(may ? [{
            id: "actions", header: common.actions,
            cell: (each: Invitation) => ["open", "expired"].includes(each.state) && (
              <ButtonDropdown
                variant="inline-icon"
                expandToViewport
                ariaLabel={s.actionsOf(each.email)}
                items={[{ id: "renew", text: s.renew }, { id: "revoke", text: s.revoke }]}
                onItemClick={({ detail }) => setAsked({ change: detail.id as InvitationChange, invitation: each })}
              />
            ),
          }] : []),
        ]}
        pagination={<Pager pages={pages} next={data?.next_cursor} />}
        empty={<Empty title={s.noInvitations} text={s.noInvitationsText} />}
      />
      {asked && <ChangeInvitation change={asked.change} invitation={asked.invitation} onClose={(made) => { setAsked(undefined); onMade(made); }} />}
    </>
  );
}
