import FormField from "@cloudscape-design/components/form-field";
import RadioGroup from "@cloudscape-design/components/radio-group";
import Select from "@cloudscape-design/components/select";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Schemas } from "../../../api/client";
import { regionHosts, regionMachines } from "../../../api/operator";
import { Dialog } from "../../../components/Dialog";
import { useStrings } from "../../../i18n";
import { useOperatorStrings } from "../../../i18n/operator";
import { useTroubleStrings } from "../../../i18n/trouble";
import { useTrouble } from "./useTrouble";

type Kind = Schemas["SimulatedFaultCreate"]["kind"];
type Link = NonNullable<Schemas["SimulatedFaultCreate"]["link"]>;

const KINDS: Kind[] = ["machine", "link", "host", "controllers"];

/** Chooses what a simulated site should break; what clusters hold comes first. */
export function BreakDialog({ region, onClose }: { region: string; onClose: () => void }) {
  const { common } = useStrings();
  const o = useOperatorStrings();
  const s = useTroubleStrings();
  const [kind, setKind] = useState<Kind>("machine");
  const [name, setName] = useState("");
  const [link, setLink] = useState<Link>("next");
  const { broken } = useTrouble(onClose);
  const ofHost = kind === "host";
  const machines = useQuery({ ...regionMachines(region), enabled: !ofHost });
  const hosts = useQuery({ ...regionHosts(region), enabled: ofHost });
  const known = [...((ofHost ? hosts.data : machines.data) ?? [])].sort((one, other) => Number(other.holder !== null) - Number(one.holder !== null));
  const options = known.map((each) => ({ value: each.name, label: each.name, description: each.holder ? o.heldBy(each.holder) : undefined }));
  const links = Object.entries(s.links).map(([value, label]) => ({ value, label }));
  const named = kind !== "controllers";
  return (
    <Dialog
      title={s.breakIt}
      submit={s.breakIt}
      ready={!named || name !== ""}
      pending={broken.isPending}
      error={broken.error}
      onSubmit={() => broken.mutate({ kind, name: named ? name : region, link: kind === "link" ? link : null })}
      onClose={onClose}
    >
      <FormField label={s.what}>
        <RadioGroup
          value={kind}
          onChange={({ detail }) => {
            setKind(detail.value as Kind);
            setName("");
          }}
          items={KINDS.map((value) => ({ value, label: s.kinds[value], description: s.kindText[value] }))}
        />
      </FormField>
      {named && (
        <FormField label={s.object}>
          <Select
            placeholder={s.choose}
            filteringType="auto"
            virtualScroll
            options={options}
            selectedOption={options.find((each) => each.value === name) ?? null}
            onChange={({ detail }) => setName(detail.selectedOption.value ?? "")}
            statusType={(ofHost ? hosts : machines).isPending ? "loading" : "finished"}
            loadingText={common.loading}
          />
        </FormField>
      )}
      {kind === "link" && (
        <FormField label={s.link}>
          <Select options={links} selectedOption={links.find((each) => each.value === link) ?? null} onChange={({ detail }) => setLink(detail.selectedOption.value as Link)} />
        </FormField>
      )}
    </Dialog>
  );
}
