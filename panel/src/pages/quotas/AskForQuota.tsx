import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import Modal from "@cloudscape-design/components/modal";
import Select from "@cloudscape-design/components/select";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Textarea from "@cloudscape-design/components/textarea";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, type Schemas } from "../../api/client";
import { regions } from "../../api/queries";
import { useFlash } from "../../app/Flashes";
import { useProject } from "../../app/Project";
import { Failure } from "../../components/Failure";
import { useFormat, useStrings } from "../../i18n";

/** Asks the operator for more machines of a type in a region. */
export function AskForQuota({ quotas, onClose }: { quotas: Schemas["Quota"][]; onClose: () => void }) {
  const { common, quotas: s } = useStrings();
  const f = useFormat();
  const flash = useFlash();
  const project = useProject();
  const cache = useQueryClient();
  const known = useQuery(regions);
  const options = (known.data?.items ?? []).flatMap((region) =>
    region.machine_types.map((type) => ({ value: `${region.slug} ${type}`, label: `${type}, ${region.slug}` })));
  const [chosen, setChosen] = useState<string>();
  const [limit, setLimit] = useState("");
  const [reason, setReason] = useState("");
  const [region = "", machine_type = ""] = (chosen ?? "").split(" ");
  const present = quotas.find((each) => each.region === region && each.machine_type === machine_type)?.limit ?? 0;
  const { mutate, isPending, error } = useMutation({
    mutationFn: () =>
      api.POST("/v1/projects/{project}/quota-requests", { params: { path: { project } }, body: { region, machine_type, limit: Number(limit), reason: reason.trim() } }),
    onSuccess: async () => {
      await cache.invalidateQueries({ predicate: (query) => query.queryKey[0] === "project" });
      flash({ type: "success", content: s.sent });
      onClose();
    },
  });
  return (
    <Modal
      visible
      header={s.ask}
      closeAriaLabel={common.close}
      onDismiss={onClose}
      footer={
        <Box float="right">
          <SpaceBetween direction="horizontal" size="xs">
            <Button variant="link" onClick={onClose}>{common.cancel}</Button>
            <Button variant="primary" disabled={!chosen || !/^\d+$/.test(limit) || !reason.trim()} loading={isPending} onClick={() => mutate()}>{s.send}</Button>
          </SpaceBetween>
        </Box>
      }
    >
      <SpaceBetween size="m">
        <FormField label={s.machineType}>
          <Select
            placeholder={s.choose}
            options={options}
            selectedOption={options.find((each) => each.value === chosen) ?? null}
            onChange={({ detail }) => setChosen(detail.selectedOption.value)}
            statusType={known.isPending ? "loading" : "finished"}
          />
        </FormField>
        <FormField label={s.newLimit} description={chosen && s.present(f.number(present))}>
          <Input value={limit} onChange={({ detail }) => setLimit(detail.value)} type="number" inputMode="numeric" />
        </FormField>
        <FormField label={s.reason} description={s.reasonHelp}>
          <Textarea value={reason} onChange={({ detail }) => setReason(detail.value)} rows={3} />
        </FormField>
        <Failure error={error} />
      </SpaceBetween>
    </Modal>
  );
}
