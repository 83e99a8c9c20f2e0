import { useQuery } from "@tanstack/react-query";
import type { Schemas } from "../../api/client";
import type { Cluster } from "../../api/queries";
import { servicePage } from "../../api/services";
import { useProject } from "../../app/Project";
import { Copyable } from "../../components/Copyable";
import { Empty } from "../../components/Empty";
import { PagedTable, useView } from "../../components/PagedTable";
import { ServiceState } from "../../components/ServiceState";
import { To } from "../../components/To";
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
  const view = useView<keyof typeof FILTERS>("all");
  const list = useQuery(servicePage(useProject(), cluster.id, { state: FILTERS[view.shown], order: view.order, limit: 20, cursor: view.pages.cursor }));
  const serve = lineOf(["ipucloud", "serve", "--cluster", cluster.name, "--name", "chat", "--port", "8000", "--sync", ".", "--", "python3", "app.py"]);
  const none = <Empty title={s.emptyTitle} text={s.emptyText} action={<Copyable text={serve} label={s.emptyCommand} command />} />;
  return (
    <PagedTable
      title={s.title}
      text={s.description}
      view={view}
      options={s.shown}
      list={list}
      none={none}
      columns={[
        { id: "name", header: s.service, minWidth: 120, isRowHeader: true, cell: (each) => <To href={`/clusters/${cluster.id}/services/${each.id}`}>{each.name}</To> },
        { id: "state", header: common.state, minWidth: 130, cell: (each) => <ServiceState service={each} /> },
        { id: "why", header: s.why, minWidth: 120, cell: (each) => each.state_reason ?? common.none },
        { id: "command", header: s.command, minWidth: 160, cell: (each) => lineOf(each.command) },
        { id: "server", header: s.server, cell: (each) => serverName(each.poplar_server) },
        { id: "port", header: s.port, cell: (each) => each.port },
        { id: "starts", header: s.starts, cell: (each) => f.number(each.attempt) },
        { id: "created", header: common.created, sortingField: "created_at", cell: (each) => f.moment(each.created_at) },
      ]}
    />
  );
}
