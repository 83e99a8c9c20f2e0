import Alert from "@cloudscape-design/components/alert";
import { useQuery } from "@tanstack/react-query";
import { serviceLog, type Service } from "../../api/services";
import { useProject } from "../../app/Project";
import { plain } from "../../components/plain";
import { useFormat } from "../../i18n";
import { useServiceStrings } from "../../i18n/services";

const LINES = 10;

/** How a service's program ended when it was not to: its exit status, and the last lines that it wrote. */
export function Died({ service }: { service: Service }) {
  const s = useServiceStrings();
  const f = useFormat();
  const { data: log } = useQuery(serviceLog(useProject(), service.cluster, service.id));
  const failed = service.state === "failed";
  const dead = failed ? service.attempt : service.attempt - 1;
  const written = log?.outputs.find((each) => each.attempt === dead);
  const lines = written && plain(written.text).trimEnd().split("\n").slice(-LINES).join("\n");
  return (
    <Alert type={failed ? "error" : "warning"} header={service.exit_status === null ? s.died : s.diedWith(f.number(service.exit_status))}>
      {service.state_reason && <div>{service.state_reason}</div>}
      {lines ? <><div>{s.lastLines}</div><pre className="last-lines">{lines}</pre></> : log && <div>{s.noOutput}</div>}
    </Alert>
  );
}
