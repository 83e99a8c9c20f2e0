import FormField from "@cloudscape-design/components/form-field";
import RadioGroup from "@cloudscape-design/components/radio-group";
import Select from "@cloudscape-design/components/select";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../api/client";
import { images, type Cluster } from "../api/queries";
import { useFlash } from "../app/Flashes";
import { useProject } from "../app/Project";
import { useStrings } from "../i18n";
import { Consequences } from "./Consequences";
import { Dialog } from "./Dialog";
import { useChange } from "./useChange";

type Disk = "keep" | "wipe";

/** Asks for the image and what becomes of the disks, and says what is lost, before servers are written again. */
export function RebuildModal({ cluster, onClose }: { cluster: Cluster; onClose: () => void }) {
  const { common, cluster: names, clusters: s } = useStrings();
  const flash = useFlash();
  const project = useProject();
  const sold = useQuery(images(cluster.region));
  const [image, setImage] = useState(cluster.image);
  const [disk, setDisk] = useState<Disk>();
  const systems = (sold.data?.items ?? []).map((each) => ({ value: each.name, label: each.name }));
  const run = useChange(
    (chosen: Disk) =>
      api.POST("/v1/projects/{project}/clusters/{cluster}:rebuild", { params: { path: { project, cluster: cluster.id } }, body: { disk: chosen, image } }),
    () => {
      flash({ type: "success", content: s.rebuildDone(cluster.name) });
      onClose();
    },
  );
  return (
    <Dialog
      title={s.rebuildTitle(cluster.name)}
      submit={s.rebuild}
      ready={disk !== undefined}
      pending={run.isPending}
      error={sold.error ?? run.error}
      onSubmit={() => disk && run.mutate(disk)}
      onClose={onClose}
    >
      <Consequences type="warning" lines={s.rebuildWhat} />
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
    </Dialog>
  );
}
