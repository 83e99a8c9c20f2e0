import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/client";
import { sshAuthority } from "../../api/queries";
import { useFlash } from "../../app/Flashes";
import { useMay, useProject } from "../../app/Project";
import { Copyable } from "../../components/Copyable";
import { Dialog } from "../../components/Dialog";
import { Failure } from "../../components/Failure";
import { useChange } from "../../components/useChange";
import { useFormat, useStrings } from "../../i18n";

/** What signs the SSH certificates of the project's members: nothing before the project's first cluster. */
export function Authority() {
  const { common, keys: s } = useStrings();
  const f = useFormat();
  const may = useMay("member:write");
  const { data, error, refetch } = useQuery(sshAuthority(useProject()));
  const [rotating, setRotating] = useState(false);
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  if (!data) return null;
  const pending = data.pending_clusters;
  return (
    <Box margin={{ top: "l" }}>
      <Container header={<Header variant="h2" description={s.certificatesText} actions={may && <Button onClick={() => setRotating(true)}>{s.rotate}</Button>}>{s.certificates}</Header>}>
        <KeyValuePairs
          columns={3}
          items={[
            { label: s.authority, value: <Copyable text={data.fingerprint} label={s.fingerprint} /> },
            { label: common.created, value: f.moment(data.created_at) },
            {
              label: s.accepting,
              value: pending.length ? <StatusIndicator type="in-progress">{s.pending(f.list(pending))}</StatusIndicator> : <StatusIndicator type="success">{s.acceptedByAll}</StatusIndicator>,
            },
          ]}
        />
        {rotating && <Rotate onClose={() => setRotating(false)} />}
      </Container>
    </Box>
  );
}

function Rotate({ onClose }: { onClose: () => void }) {
  const s = useStrings().keys;
  const flash = useFlash();
  const project = useProject();
  const run = useChange(
    () => api.POST("/v1/projects/{project}/ssh-authority:rotate", { params: { path: { project } } }),
    () => {
      flash({ type: "success", content: s.rotated });
      onClose();
    },
  );
  return (
    <Dialog title={s.rotateTitle} submit={s.rotateNow} pending={run.isPending} error={run.error} onSubmit={() => run.mutate()} onClose={onClose}>
      <Alert type="warning">{s.rotateText}</Alert>
    </Dialog>
  );
}
