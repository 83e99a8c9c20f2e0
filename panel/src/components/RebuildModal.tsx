import ExpandableSection from "@cloudscape-design/components/expandable-section";
import FormField from "@cloudscape-design/components/form-field";
import Multiselect from "@cloudscape-design/components/multiselect";
import RadioGroup from "@cloudscape-design/components/radio-group";
import Select from "@cloudscape-design/components/select";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Textarea from "@cloudscape-design/components/textarea";
import { useState } from "react";
import { api, type Schemas } from "../api/client";
import type { Cluster } from "../api/queries";
import { useFlash } from "../app/Flashes";
import { useProject } from "../app/Project";
import { useStrings } from "../i18n";
import { Consequences } from "./Consequences";
import { Dialog } from "./Dialog";
import { Field } from "./Field";
import { KeyChoice } from "./KeyChoice";
import { useChange } from "./useChange";
import { useSystems } from "./useSystems";

type UserData = "keep" | "none" | "other";
type Draft = { image: string; keys: string[]; userData: UserData; script: string; servers: string[]; disk?: "keep" | "wipe" };

const same = (one: string[], other: string[]) => one.length === other.length && one.every((each) => other.includes(each));

/** The request: what stays as it is, is left out. Image, keys and user data belong to all servers of the cluster. */
function requestOf(cluster: Cluster, draft: Draft, disk: "keep" | "wipe"): Schemas["ClusterRebuild"] {
  if (draft.servers.length > 0) return { disk, poplar_servers: draft.servers };
  return {
    disk,
    ...(draft.image === cluster.image ? {} : { image: draft.image }),
    ...(same(draft.keys, cluster.ssh_keys) ? {} : { ssh_keys: draft.keys }),
    ...(draft.userData === "keep" ? {} : { user_data: draft.userData === "none" ? null : draft.script }),
  };
}

/** Asks for the image, what becomes of the disks and who may log in, and says what is lost, before servers are rebuilt. */
export function RebuildModal({ cluster, onClose }: { cluster: Cluster; onClose: () => void }) {
  const s = useStrings().clusters;
  const flash = useFlash();
  const project = useProject();
  const [draft, setDraft] = useState<Draft>({ image: cluster.image, keys: cluster.ssh_keys, userData: "keep", script: "", servers: [] });
  const change = (part: Partial<Draft>) => setDraft((now) => ({ ...now, ...part }));
  const { disk } = draft;
  const run = useChange(
    (body: Schemas["ClusterRebuild"]) => api.POST("/v1/projects/{project}/clusters/{cluster}:rebuild", { params: { path: { project, cluster: cluster.id } }, body }),
    () => {
      flash({ type: "success", content: s.rebuildDone(cluster.name) });
      onClose();
    },
  );
  const complete = draft.servers.length > 0 || (draft.keys.length > 0 && (draft.userData !== "other" || draft.script.trim() !== ""));
  return (
    <Dialog
      title={s.rebuildTitle(cluster.name)}
      submit={s.rebuild}
      ready={disk !== undefined && complete}
      pending={run.isPending}
      error={run.error}
      onSubmit={() => disk && run.mutate(requestOf(cluster, draft, disk))}
      onClose={onClose}
    >
      <Consequences type="warning" lines={s.rebuildWhat} />
      <FormField label={s.disk}>
        <RadioGroup
          value={disk ?? null}
          onChange={({ detail }) => change({ disk: detail.value as Draft["disk"] })}
          items={[
            { value: "keep", label: s.keepDisk, description: s.keepDiskText },
            { value: "wipe", label: s.wipeDisk, description: s.wipeDiskText },
          ]}
        />
      </FormField>
      {cluster.poplar_servers.length > 1 && <ServerChoice cluster={cluster} chosen={draft.servers} onChange={(servers) => change({ servers })} />}
      {draft.servers.length === 0 && <Software region={cluster.region} draft={draft} change={change} />}
    </Dialog>
  );
}

function ServerChoice({ cluster, chosen, onChange }: { cluster: Cluster; chosen: string[]; onChange: (servers: string[]) => void }) {
  const { common, clusters: s } = useStrings();
  const options = cluster.poplar_servers.map((each) => ({ value: each.name, label: each.name }));
  return (
    <Field at="/poplar_servers" label={s.servers} description={s.serversHelp}>
      <Multiselect
        options={options}
        placeholder={s.allServers}
        selectedOptions={options.filter((each) => chosen.includes(each.value))}
        onChange={({ detail }) => onChange(detail.selectedOptions.flatMap((each) => each.value ?? []))}
        deselectAriaLabel={(each) => `${common.remove}: ${each.label}`}
      />
    </Field>
  );
}

function Software({ region, draft, change }: { region: string; draft: Draft; change: (part: Partial<Draft>) => void }) {
  const { common, cluster: names, clusters: s, keys } = useStrings();
  const systems = useSystems(region);
  return (
    <ExpandableSection headerText={s.software}>
      <SpaceBetween size="m">
        <Field at="/image" label={names.image}>
          <Select
            options={systems.options}
            loadingText={common.loading}
            statusType={systems.isPending ? "loading" : systems.error ? "error" : "finished"}
            errorText={common.failed}
            selectedOption={systems.all.find((each) => each.value === draft.image) ?? { value: draft.image, label: draft.image }}
            onChange={({ detail }) => change({ image: detail.selectedOption.value ?? draft.image })}
          />
        </Field>
        <KeyChoice chosen={draft.keys} onChange={(chosen) => change({ keys: chosen })} description={keys.mayLogIn} problem={draft.keys.length ? undefined : keys.lastKey} />
        <Field at="/user_data" label={s.userData} description={s.userDataHelp}>
          <RadioGroup
            value={draft.userData}
            onChange={({ detail }) => change({ userData: detail.value as UserData })}
            items={[{ value: "keep", label: s.userDataKeep }, { value: "none", label: s.userDataNone }, { value: "other", label: s.userDataOther }]}
          />
        </Field>
        {draft.userData === "other" && (
          <Textarea ariaLabel={s.userDataOther} value={draft.script} placeholder={"#cloud-config"} rows={6} spellcheck={false} onChange={({ detail }) => change({ script: detail.value })} />
        )}
      </SpaceBetween>
    </ExpandableSection>
  );
}
