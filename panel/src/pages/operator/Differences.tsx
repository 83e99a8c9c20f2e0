import ContentLayout from "@cloudscape-design/components/content-layout";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import Table from "@cloudscape-design/components/table";
import { useQuery } from "@tanstack/react-query";
import type { Schemas } from "../../api/client";
import { inventoryFindings, siteFindings } from "../../api/operator";
import { useMay } from "../../app/Project";
import { Empty } from "../../components/Empty";
import { Failure } from "../../components/Failure";
import { Pager } from "../../components/Pager";
import { To } from "../../components/To";
import { useCursor } from "../../components/useCursor";
import { useFormat, useStrings } from "../../i18n";
import { useOperatorStrings } from "../../i18n/operator";

/** For operators: where sites show something else than what is expected of their hardware, or recorded of clusters. */
export function Differences() {
  const { common } = useStrings();
  const s = useOperatorStrings();
  if (!useMay("platform:read")) return <Empty page title={s.differences} text={common.notAllowed} />;
  return (
    <ContentLayout header={<Header variant="h1" description={s.differencesText}>{s.differences}</Header>}>
      <SpaceBetween size="l">
        <Hardware />
        <Objects />
      </SpaceBetween>
    </ContentLayout>
  );
}

function Hardware() {
  const { common } = useStrings();
  const s = useOperatorStrings();
  const f = useFormat();
  const pages = useCursor();
  const { data, error, isPending, refetch } = useQuery(inventoryFindings({ limit: 50, cursor: pages.cursor }));
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  return (
    <Table
      wrapLines
      items={data?.items ?? []}
      loading={isPending}
      loadingText={common.loading}
      ariaLabels={{ tableLabel: s.ofHardware }}
      header={<Header variant="h2" description={s.ofHardwareText}>{s.ofHardware}</Header>}
      columnDefinitions={[
        { id: "name", header: common.name, isRowHeader: true, cell: (each) => (each.registered ? <To href={`/operator/${each.kind}s/${encodeURIComponent(each.name)}`}>{each.name}</To> : each.name) },
        { id: "region", header: s.region, cell: (each) => each.region },
        { id: "code", header: s.difference, cell: (each) => s.differenceOf[each.code] },
        { id: "expected", header: s.expected, cell: (each) => each.expected ?? common.none },
        { id: "shown", header: s.shown, cell: (each) => each.shown ?? common.none },
        { id: "since", header: s.since, cell: (each) => f.moment(each.since) },
        { id: "prevents", header: s.offered, cell: (each) => (each.prevents ? <StatusIndicator type="warning">{common.no}</StatusIndicator> : common.yes) },
      ]}
      pagination={<Pager pages={pages} next={data?.next_cursor} />}
      empty={<Empty title={s.noDifferences} text={s.noHardwareDifferences} />}
    />
  );
}

function Objects() {
  const { common } = useStrings();
  const s = useOperatorStrings();
  const f = useFormat();
  const pages = useCursor();
  const { data, error, isPending, refetch } = useQuery(siteFindings({ limit: 50, cursor: pages.cursor }));
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  return (
    <Table
      wrapLines
      items={data?.items ?? []}
      loading={isPending}
      loadingText={common.loading}
      ariaLabels={{ tableLabel: s.ofObjects }}
      header={<Header variant="h2" description={s.ofObjectsText}>{s.ofObjects}</Header>}
      columnDefinitions={[
        { id: "object", header: s.what, isRowHeader: true, cell: (each) => each.object },
        { id: "region", header: s.region, cell: (each) => [each.region, each.host].filter(Boolean).join(", ") },
        { id: "project", header: s.project, cell: (each) => each.project ?? common.none },
        { id: "detail", header: s.detail, cell: (each) => each.detail },
        { id: "since", header: s.since, cell: (each) => f.moment(each.first_seen_at) },
        { id: "seen", header: s.lastSweep, cell: (each) => f.moment(each.last_seen_at) },
        { id: "repair", header: s.repair, cell: (each) => <Repair finding={each} /> },
      ]}
      pagination={<Pager pages={pages} next={data?.next_cursor} />}
      empty={<Empty title={s.noDifferences} text={s.noObjectDifferences} />}
    />
  );
}

const TYPES = { running: "in-progress", succeeded: "success", failed: "error" } as const;

/** What became of a finding: why it was left, or the state of its repair. */
function Repair({ finding }: { finding: Schemas["SiteFinding"] }) {
  const s = useOperatorStrings();
  if (finding.left_because) return finding.left_because;
  return finding.repair ? <StatusIndicator type={TYPES[finding.repair]}>{s.repairStates[finding.repair]}</StatusIndicator> : s.notYet;
}
