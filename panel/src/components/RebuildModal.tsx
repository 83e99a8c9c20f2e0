import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import FormField from "@cloudscape-design/components/form-field";
import Modal from "@cloudscape-design/components/modal";
import RadioGroup from "@cloudscape-design/components/radio-group";
import Select from "@cloudscape-design/components/select";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../api/client";
import { images, type Cluster } from "../api/queries";
import { useFlash } from "../app/Flashes";
import { useProject } from "../app/Project";
import { useStrings } from "../i18n";
import { Failure } from "./Failure";

type Disk = "keep" | "wipe";

/** Asks for the image and what becomes of the disks, and says what is lost, before servers are written again. */
export function RebuildModal({ cluster, onClose }: { cluster: Cluster; onClose: () => void }) {
  const { common, cluster: names, clusters: s } = useStrings();
  const flash = useFlash();
  const cache = useQueryClient();
  const project = useProject();
  const sold = useQuery(images(cluster.region));
  const [image, setImage] = useState(cluster.image);
  const [disk, setDisk] = useState<Disk>();
  const systems = (sold.data?.items ?? []).map((each) => ({ value: each.name, label: each.name }));
  const run = useMutation({
    mutationFn: (chosen: Disk) =>
      api.POST("/v1/projects/{project}/clusters/{cluster}:rebuild", {
        params: { path: { project, cluster: cluster.id } },
        body: { disk: chosen, image },
      }),
    onSuccess: () => {
      flash({ type: "success", content: s.rebuildDone(cluster.name) });
      onClose();
    },
    onSettled: () => cache.invalidateQueries({ predicate: (query) => query.queryKey[0] === "project" }),
  });
  return (
    <Modal
      visible
      header={s.rebuildTitle(cluster.name)}
      closeAriaLabel={common.close}
      onDismiss={onClose}
      footer={
        <Box float="right">
          <SpaceBetween direction="horizontal" size="xs">
            <Button variant="link" onClick={onClose}>{common.cancel}</Button>
            <Button variant="primary" disabled={!disk} loading={run.isPending} onClick={() => disk && run.mutate(disk)}>{s.rebuild}</Button>
          </SpaceBetween>
        </Box>
      }
    >
      <SpaceBetween size="m">
        <Alert type="warning">
          <ul className="consequences">{s.rebuildWhat.map((line) => <li key={line}>{line}</li>)}</ul>
        </Alert>
        <FormField label={names.image}>
          <Select
            options={systems}
            loadingText={common.loading}
            statusType={sold.isPending ? "loading" : "finished"}
            selectedOption={{ value: image, label: image }}
            onChange={({ detail }) => setImage(detail.selectedOption.value ?? image)}
          />
        </FormField>
        <FormField label={s.disk}>
          <RadioGroup
            value={disk ?? null}
            onChange={({ detail }) => setDisk(detail.value as Disk)}
            items={[
              { value: "keep", label: s.keepDisk, description: s.keepDiskText },
              { value: "wipe", label: s.wipeDisk, description: s.wipeDiskText },
            ]}
          />
        </FormField>
        <Failure error={sold.error ?? run.error} />
      </SpaceBetween>
    </Modal>
  );
}
