import Header from "@cloudscape-design/components/header";
import Pagination from "@cloudscape-design/components/pagination";
import Table from "@cloudscape-design/components/table";
import { useState } from "react";
import type { HardwareMachine } from "../../api/operator";
import { Health } from "../../components/Health";
import { valueOf } from "../../components/racks/modes";
import { useFormat, useStrings } from "../../i18n";
import { useOperatorStrings } from "../../i18n/operator";

const PAGE = 64;

/** The same as the heat map, as a table. */
export function MachineTable({ machines }: { machines: HardwareMachine[] }) {
  const { common } = useStrings();
  const s = useOperatorStrings();
  const f = useFormat();
  const [page, setPage] = useState(1);
  const pages = Math.ceil(machines.length / PAGE);
  const shown = Math.min(page, pages);
  return (
    <Table
      variant="container"
      header={<Header variant="h2" counter={`(${f.number(machines.length)})`}>{s.machines}</Header>}
      ariaLabels={{ tableLabel: s.machines }}
      items={machines.slice((shown - 1) * PAGE, shown * PAGE)}
      trackBy="name"
      columnDefinitions={[
        { id: "name", header: s.machine, isRowHeader: true, cell: (each) => each.name },
        { id: "rack", header: s.rack, cell: (each) => each.rack },
        { id: "pod", header: s.pod, cell: (each) => each.pod },
        { id: "slot", header: s.slot, cell: (each) => each.slot },
        { id: "health", header: s.health, cell: (each) => <Health health={each.health as "ok"} /> },
        { id: "use", header: s.use, cell: (each) => s.values[valueOf("use", each)] },
        { id: "maintenance", header: s.maintenance, cell: (each) => s.values[valueOf("maintenance", each)] },
        { id: "reports", header: s.reports, cell: (each) => each.codes.join(", ") || common.none },
        { id: "holder", header: s.holder, cell: (each) => (each.holder ? s.heldBy(each.holder) : common.none) },
      ]}
      pagination={
        pages > 1 && (
          <Pagination currentPageIndex={shown} pagesCount={pages} onChange={({ detail }) => setPage(detail.currentPageIndex)}
            ariaLabels={{ nextPageLabel: common.nextPage, previousPageLabel: common.previousPage, pageLabel: common.page }} />
        )
      }
    />
  );
}
