import Box from "@cloudscape-design/components/box";
import MixedLineBarChart from "@cloudscape-design/components/mixed-line-bar-chart";
import { useFormat, useStrings } from "../i18n";

export type Line = { title: string; color: string; runs: { x: Date; y: number }[][] };
type Props = { title: string; lines: Line[]; since: string; until: string; most?: number; empty: string; written: (value: number) => string };

/** Values over time as lines, which have gaps where nothing was observed. */
export function TimeChart({ title, lines, since, until, most, empty, written }: Props) {
  const { billing } = useStrings();
  const f = useFormat();
  const nothing = <Box textAlign="center" color="text-body-secondary">{empty}</Box>;
  return (
    <div>
      <Box variant="h3">{title}</Box>
      <MixedLineBarChart
        series={lines.flatMap((line) => line.runs.map((data) => ({ type: "line" as const, title: line.title, color: line.color, valueFormatter: written, data })))}
        xScaleType="time"
        xTitle={f.zone}
        xDomain={[new Date(since), new Date(until)]}
        yDomain={most === undefined ? undefined : [0, most]}
        height={160}
        hideFilter
        hideLegend={lines.length === 1}
        ariaLabel={title}
        i18nStrings={{ xTickFormatter: (at: Date) => f.tick(at.toISOString()), yTickFormatter: written, chartAriaRoleDescription: billing.chartRole }}
        empty={nothing}
        noMatch={nothing}
      />
    </div>
  );
}
