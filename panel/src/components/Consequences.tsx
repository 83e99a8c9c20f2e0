import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import { useFormat } from "../i18n";

type Props = { type?: "info" | "warning"; of?: string[]; lines: string[] };

/** What an action does, before it does it; `of` names the objects where there are several. */
export function Consequences({ type = "info", of = [], lines }: Props) {
  const f = useFormat();
  return (
    <Alert type={type}>
      {of.length > 1 && <Box fontWeight="bold" color="inherit">{f.list(of)}</Box>}
      <ul className="consequences">{lines.map((line) => <li key={line}>{line}</li>)}</ul>
    </Alert>
  );
}
