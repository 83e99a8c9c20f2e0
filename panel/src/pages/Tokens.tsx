import Button from "@cloudscape-design/components/button";
import ButtonDropdown from "@cloudscape-design/components/button-dropdown";
import Header from "@cloudscape-design/components/header";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import Table from "@cloudscape-design/components/table";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { tokenPage, type Token } from "../api/access";
import type { Schemas } from "../api/client";
import { useChoice, useMay, useProject } from "../app/Project";
import { Choice } from "../components/Choice";
import { Empty } from "../components/Empty";
import { FailedPage } from "../components/Failure";
import { Pager } from "../components/Pager";
import { useCursor } from "../components/useCursor";
import { later } from "../components/later";
import { useFormat, useStrings } from "../i18n";
import { useTokenStrings } from "../i18n/tokens";
import type { TokenEnd } from "./tokens/EndToken";

const CreateToken = later(async () => (await import("./tokens/CreateToken")).CreateToken, null);
const EndToken = later(async () => (await import("./tokens/EndToken")).EndToken, null);
const ShownOnce = later(async () => (await import("../components/ShownOnce")).ShownOnce, null);

const ACTIVE = { active: true, ended: false, all: undefined };

/** The project's tokens: made, replaced and revoked here; a secret is shown once. */
export function Tokens() {
  const { cluster, common, shell } = useStrings();
  const s = useTokenStrings();
  const f = useFormat();
  const may = useMay("token:write");
  const { who } = useChoice();
  const [shown, setShown] = useState<keyof typeof ACTIVE>("active");
  const [order, setOrder] = useState<Schemas["Order"]>("-created_at");
  const pages = useCursor();
  const { data, error, isPending, refetch } = useQuery(tokenPage(useProject(), { active: ACTIVE[shown], order, limit: 50, cursor: pages.cursor }));
  const [creating, setCreating] = useState(false);
  const [asked, setAsked] = useState<{ end: TokenEnd; token: Token }>();
  const [made, setMade] = useState<Schemas["NewToken"]>();
  if (error && !data) return <FailedPage title={s.title} error={error} retry={() => void refetch()} />;
  const create = may && <Button variant="primary" onClick={() => setCreating(true)}>{s.create}</Button>;
  return (
    <>
      <Table
        variant="full-page"
        trackBy="id"
        items={data?.items ?? []}
        loading={isPending}
        loadingText={common.loading}
        ariaLabels={{ tableLabel: s.title }}
        header={<Header variant="awsui-h1-sticky" description={s.description} actions={create}>{s.title}</Header>}
        filter={<Choice label={common.shown} value={shown} options={s.shown} onChange={(value) => { setShown(value); pages.reset(); }} />}
        sortingColumn={{ sortingField: "created_at" }}
        sortingDescending={order === "-created_at"}
        onSortingChange={({ detail }) => {
          setOrder(detail.isDescending ? "-created_at" : "created_at");
          pages.reset();
        }}
        columnDefinitions={[
          { id: "name", header: common.name, isRowHeader: true, cell: (each) => (each.id === who.token.id ? s.yours(each.name) : each.name) },
          { id: "state", header: common.state, cell: (each) => <TokenState token={each} /> },
          { id: "role", header: s.role, cell: (each) => shell.roles[each.role] ?? each.role },
          { id: "scopes", header: s.scopes, cell: (each) => (each.narrowed ? each.scopes.join(", ") : s.scopesAll) },
          { id: "clusters", header: s.clusters, cell: (each) => each.clusters?.map(({ name, deleted }) => (deleted ? s.clusterDeleted(name) : name)).join(", ") ?? s.clustersAll },
          { id: "sources", header: cluster.sources, cell: (each) => each.allowed_sources.join(", ") || s.everywhere },
          { id: "prefix", header: s.prefix, cell: (each) => <code>{each.display_prefix}…</code> },
          { id: "used", header: s.lastUsed, cell: (each) => (each.last_used_at ? f.moment(each.last_used_at) : s.neverUsed) },
          { id: "expires", header: s.expires, cell: (each) => (each.expires_at ? f.moment(each.expires_at) : s.never) },
          { id: "created", header: common.created, sortingField: "created_at", cell: (each) => f.moment(each.created_at) },
          ...(may ? [{
            id: "actions", header: common.actions,
            cell: (each: Token) => works(each) && (
              <ButtonDropdown
                variant="inline-icon"
                expandToViewport
                ariaLabel={s.actionsOf(each.name)}
                items={[{ id: "rotate", text: s.rotate }, { id: "revoke", text: s.revoke }]}
                onItemClick={({ detail }) => setAsked({ end: detail.id as TokenEnd, token: each })}
              />
            ),
          }] : []),
        ]}
        pagination={<Pager pages={pages} next={data?.next_cursor} />}
        empty={<Empty title={s.emptyTitle} text={s.emptyText} />}
      />
      {creating && <CreateToken onClose={(token) => { setCreating(false); setMade(token); }} />}
      {asked && (
        <EndToken end={asked.end} token={asked.token} own={asked.token.id === who.token.id} onClose={(token) => { setAsked(undefined); setMade(token); }} />
      )}
      {made?.token && <ShownOnce title={s.secretTitle(made.name)} text={s.secretText} secret={made.token} onClose={() => setMade(undefined)} />}
    </>
  );
}

const expired = (token: Token) => token.expires_at !== null && Date.parse(token.expires_at) <= Date.now();
const works = (token: Token) => token.revoked_at === null && !expired(token);

function TokenState({ token }: { token: Token }) {
  const s = useTokenStrings();
  const f = useFormat();
  if (token.revoked_at) return <StatusIndicator type="stopped">{s.revokedAt(f.moment(token.revoked_at))}</StatusIndicator>;
  if (expired(token)) return <StatusIndicator type="stopped">{s.expired}</StatusIndicator>;
  return <StatusIndicator type="success">{s.active}</StatusIndicator>;
}
