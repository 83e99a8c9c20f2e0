import Button from "@cloudscape-design/components/button";
import Header from "@cloudscape-design/components/header";
import Table from "@cloudscape-design/components/table";
import { useQuery } from "@tanstack/react-query";
import type { Schemas } from "../../api/client";
import { requeue, stuckPage } from "../../api/operator";
import { useFlash } from "../../app/Flashes";
import { useMay } from "../../app/Project";
import { Empty } from "../../components/Empty";
import { FailedPage, Failure } from "../../components/Failure";
import { Pager } from "../../components/Pager";
import { useCursor } from "../../components/useCursor";
import { useChange } from "../../components/useChange";
import { useFormat, useStrings } from "../../i18n";
import { useOperatorStrings } from "../../i18n/operator";

/** For operators: everything that takes longer than usual or will not go on by itself, and what to do about it. */
export function Stuck() {
  const { common } = useStrings();
  const s = useOperatorStrings();
  const f = useFormat();
  const may = useMay("platform:read");
  const mayOrder = useMay("platform:write");
  const pages = useCursor();
  const { data, error, isPending, refetch } = useQuery({ ...stuckPage({ limit: 50, cursor: pages.cursor }), enabled: may });
  if (!may) return <Empty page title={s.stuck} text={common.notAllowed} />;
  if (error && !data) return <FailedPage title={s.stuck} error={error} retry={() => void refetch()} />;
  return (
    <Table
      variant="full-page"
      wrapLines
      items={data?.items ?? []}
      loading={isPending}
      loadingText={common.loading}
      ariaLabels={{ tableLabel: s.stuck }}
      header={<Header variant="awsui-h1-sticky" description={s.stuckDescription}>{s.stuck}</Header>}
      columnDefinitions={[
        { id: "what", header: s.what, isRowHeader: true, cell: (each) => each.name ?? each.id },
        { id: "kind", header: s.type, cell: (each) => [each.kind, each.step].filter(Boolean).join(", ") },
        { id: "project", header: s.project, cell: (each) => each.project ?? common.none },
        { id: "over", header: s.over, cell: (each) => f.duration(each.over_seconds) },
        { id: "waits", header: s.waitsFor, cell: (each) => each.blocked_by ?? common.none },
        { id: "remedy", header: s.remedy, cell: (each) => each.remedy },
        ...(mayOrder ? [{ id: "do", header: common.actions, cell: (each: Schemas["Stuck"]) => each.object === "work_item" && <Requeue id={each.id} /> }] : []),
      ]}
      pagination={<Pager pages={pages} next={data?.next_cursor} />}
      empty={<Empty title={s.nothingStuck} text={s.nothingStuckText} />}
    />
  );
}

function Requeue({ id }: { id: string }) {
  const s = useOperatorStrings();
  const flash = useFlash();
  const run = useChange(() => requeue(id), () => flash({ type: "success", content: s.requeued(id) }), "operator");
  return (
    <>
      <Button loading={run.isPending} ariaLabel={`${s.requeue} ${id}`} onClick={() => run.mutate()}>{s.requeue}</Button>
      <Failure error={run.error} />
    </>
  );
}
