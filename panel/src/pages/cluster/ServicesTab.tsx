import Header from "@cloudscape-design/components/header";
import Table from "@cloudscape-design/components/table";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Schemas } from "../../api/client";
import type { Cluster } from "../../api/queries";
import { servicePage } from "../../api/services";
import { useProject } from "../../app/Project";
import { Choice } from "../../components/Choice";
import { Copyable } from "../../components/Copyable";
import { Empty } from "../../components/Empty";
import { Failure } from "../../components/Failure";
import { Pager } from "../../components/Pager";
import { ServiceState } from "../../components/ServiceState";
import { To } from "../../components/To";
import { useCursor } from "../../components/useCursor";
import { useServerName } from "../../components/useServerName";
import { lineOf } from "../../components/words";
import { useFormat, useStrings } from "../../i18n";
import { useServiceStrings } from "../../i18n/services";

const FILTERS: Record<"all" | "open" | "ended", Schemas["ServiceState"][] | undefined> = {
  all: undefined, open: ["starting", "running"], ended: ["failed", "stopped"],
};

/** The programs that are kept running on the cluster's servers, newest first. */
export function ServicesTab({ cluster }: { cluster: Cluster }) {
  const { common } = useStrings();
  const s = useServiceStrings();
  const f = useFormat();
  const serverName = useServerName(cluster);
  const [shown, setShown] = useState<keyof typeof FILTERS>("all");
  const [order, setOrder] = useState<Schemas["Order"]>("-created_at");
  const pages = useCursor();
  const query = { state: FILTERS[shown], order, limit: 20, cursor: pages.cursor };
  const { data, error, isPending, refetch } = useQuery(servicePage(useProject(), cluster.id, query));
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  const serve = lineOf(["ipucloud", "serve", "--cluster", cluster.name, "--name", "chat", "--port", "8000", "--sync", ".", "--", "python3", "app.py"]);
  const none = <Empty title={s.emptyTitle} text={s.emptyText} action={<Copyable text={serve} label={s.emptyCommand} command />} />;
  return (
    <Table
      variant="container"
      wrapLines
      trackBy="id"
      items={data?.items ?? []}
      loading={isPending}
      loadingText={common.loading}
      ariaLabels={{ tableLabel: s.title }}
      header={<Header variant="h2" description={s.description}>{s.title}</Header>}
      filter={<Choice label={common.shown} value={shown} options={s.shown} onChange={(value) => { setShown(value); pages.reset(); }} />}
      sortingColumn={{ sortingField: "created_at" }}
      sortingDescending={order === "-created_at"}
      onSortingChange={({ detail }) => {
        setOrder(detail.isDescending ? "-created_at" : "created_at");
        pages.reset();
      }}
      columnDefinitions={[
        { id: "name", header: s.service, minWidth: 120, isRowHeader: true, cell: (each) => <To href={`/clusters/${cluster.id}/services/${each.id}`}>{each.name}</To> },
        { id: "state", header: common.state, minWidth: 130, cell: (each) => <ServiceState service={each} /> },
        { id: "why", header: s.why, minWidth: 120, cell: (each) => each.state_reason ?? common.none },
        { id: "command", header: s.command, minWidth: 160, cell: (each) => lineOf(each.command) },
        { id: "server", header: s.server, cell: (each) => serverName(each.poplar_server) },
        { id: "port", header: s.port, cell: (each) => each.port },
        { id: "starts", header: s.starts, cell: (each) => f.number(each.attempt) },
        { id: "created", header: common.created, sortingField: "created_at", cell: (each) => f.moment(each.created_at) },
      ]}
      pagination={<Pager pages={pages} next={data?.next_cursor} />}
      empty={shown === "all" ? none : <Empty title={common.noMatch} text={common.noMatchText} />}
    />
  );
}
