import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import { useMay } from "../../app/Project";
import { To } from "../../components/To";
import { useStrings } from "../../i18n";

/** What somebody does first in a project without clusters. */
export function StartHere() {
  const s = useStrings().home;
  if (!useMay("cluster:write")) return <Container header={<Header variant="h2">{s.nothing}</Header>}>{s.nothingText}</Container>;
  return (
    <Container header={<Header variant="h2" description={s.startText}>{s.start}</Header>}>
      <ol className="start">
        <li><To href="/ssh-keys">{s.startKey}</To><div>{s.startKeyText}</div></li>
        <li><To href="/clusters/create">{s.startCluster}</To><div>{s.startClusterText}</div></li>
        <li><strong>{s.startLogIn}</strong><div>{s.startLogInText}</div></li>
      </ol>
    </Container>
  );
}
