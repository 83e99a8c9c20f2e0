import FormField from "@cloudscape-design/components/form-field";
import Select from "@cloudscape-design/components/select";
import Textarea from "@cloudscape-design/components/textarea";
import { useState } from "react";
import type { Schemas } from "../../../api/client";
import { reportFault, type Reported } from "../../../api/cluster";
import type { Cluster } from "../../../api/queries";
import { useFlash } from "../../../app/Flashes";
import { useProject } from "../../../app/Project";
import { Dialog } from "../../../components/Dialog";
import { Field } from "../../../components/Field";
import { MomentInput } from "../../../components/MomentInput";
import { useChange } from "../../../components/useChange";
import { useRepairStrings } from "../../../i18n/repairs";

type Category = NonNullable<Schemas["FaultReportCreate"]["category"]>;

/** Tells the operator that a machine or server does not work; `machine` is chosen beforehand. */
export function ReportFault({ cluster, machine, onClose }: { cluster: Cluster; machine?: string; onClose: () => void }) {
  const s = useRepairStrings();
  const flash = useFlash();
  const project = useProject();
  const [chosen, setChosen] = useState<Reported | undefined>(machine === undefined ? undefined : { kind: "machine", name: machine });
  const [category, setCategory] = useState<Category>("other");
  const [description, setDescription] = useState("");
  const [since, setSince] = useState("");
  const run = useChange(
    (what: Reported) => reportFault(project, cluster.id, what, { description: description.trim(), category, since: since || null }),
    (report) => {
      flash({ type: "success", content: s.sent(report.name) });
      onClose();
    },
  );
  const option = (kind: Reported["kind"], name: string) =>
    ({ value: `${kind} ${name}`, label: name, description: kind === "machine" ? s.machineKind : s.serverKind });
  const options = [...cluster.machines.map((each) => option("machine", each.name)), ...cluster.poplar_servers.map((each) => option("poplar_server", each.name))];
  const categories = Object.entries(s.categories).map(([value, label]) => ({ value, label }));
  return (
    <Dialog
      title={s.report}
      submit={s.send}
      ready={chosen !== undefined && description.trim() !== ""}
      pending={run.isPending}
      error={run.error}
      onSubmit={() => chosen && run.mutate(chosen)}
      onClose={onClose}
    >
      <Field at="/hardware" label={s.reportedHardware}>
        <Select
          placeholder={s.choose}
          options={options}
          selectedOption={options.find((each) => each.value === `${chosen?.kind} ${chosen?.name}`) ?? null}
          onChange={({ detail }) => {
            const [kind, name] = (detail.selectedOption.value ?? "").split(" ");
            if (kind && name) setChosen({ kind: kind as Reported["kind"], name });
          }}
        />
      </Field>
      <FormField label={s.category}>
        <Select
          options={categories}
          selectedOption={categories.find((each) => each.value === category) ?? null}
          onChange={({ detail }) => setCategory(detail.selectedOption.value as Category)}
        />
      </FormField>
      <Field at="/description" label={s.description} description={s.descriptionHelp}>
        <Textarea value={description} onChange={({ detail }) => setDescription(detail.value)} rows={4} />
      </Field>
      <Field at="/since" label={s.since} description={s.sinceHelp}>
        <MomentInput value={since} onChange={setSince} label={s.since} />
      </Field>
    </Dialog>
  );
}
