import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import Select from "@cloudscape-design/components/select";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { RecipeOffer } from "../../api/catalogue";
import { createJob } from "../../api/jobs";
import { clusterPage } from "../../api/queries";
import { useGo } from "../../app/place";
import { useProject } from "../../app/Project";
import { Consequences } from "../../components/Consequences";
import { Dialog } from "../../components/Dialog";
import { Field } from "../../components/Field";
import { useChange } from "../../components/useChange";
import { useFormat, useStrings } from "../../i18n";
import { useRecipeStrings } from "../../i18n/recipes";

const MOST = 200;

type Props = { recipe: RecipeOffer; cluster?: string; onClose: () => void };

/** Runs a recipe as a job on a cluster of the project; `cluster`: the id of the one that is meant. */
export function RunRecipe({ recipe, cluster, onClose }: Props) {
  const { common } = useStrings();
  const s = useRecipeStrings();
  const f = useFormat();
  const go = useGo();
  const project = useProject();
  const { data, isPending } = useQuery(clusterPage(project, { state: ["active", "degraded"], order: "-created_at", limit: MOST }));
  const ipus = recipe.program?.ipus ?? 0;
  const options = (data?.items ?? []).map((each) => ({
    value: each.id, label: each.name, description: each.ipus < ipus ? s.tooSmall(f.number(ipus)) : each.flavor, disabled: each.ipus < ipus,
  }));
  const [chosen, setChosen] = useState(cluster ?? "");
  const [data_directory, setDirectory] = useState("");
  const [minutes, setMinutes] = useState("");
  const variable = recipe.program?.dataset_variable ?? undefined;
  const price = data?.items.find((each) => each.id === chosen)?.price_per_minute;
  const run = useChange(
    () => createJob(project, chosen, {
      command: recipe.job_command ?? [],
      ...(variable && { environment: { [variable]: data_directory.trim() } }),
      ...(minutes && { max_minutes: Number(minutes) }),
    }),
    (job) => go(`/clusters/${chosen}/jobs/${job.number}`),
  );
  const ready = chosen !== "" && (!variable || data_directory.trim() !== "");
  return (
    <Dialog title={s.runOf(recipe.name)} submit={s.run} ready={ready} pending={run.isPending} error={run.error} onSubmit={() => run.mutate()} onClose={onClose}>
      <Consequences lines={[s.whatHappens, ...(price ? [s.costsAnyway(f.money(price, 4))] : [])]} />
      <FormField label={s.cluster}>
        <Select
          placeholder={s.choose}
          options={options}
          disabled={cluster !== undefined}
          selectedOption={options.find((each) => each.value === chosen) ?? null}
          onChange={({ detail }) => setChosen(detail.selectedOption.value ?? "")}
          statusType={isPending ? "loading" : "finished"}
          loadingText={common.loading}
          empty={s.noClusters}
        />
      </FormField>
      {variable && (
        <FormField label={s.dataDirectory} description={s.dataHelp(recipe.program?.dataset ?? "")}>
          <Input value={data_directory} onChange={({ detail }) => setDirectory(detail.value)} autoComplete={false} spellcheck={false} />
        </FormField>
      )}
      <Field at="/max_minutes" label={s.maxMinutes} description={s.maxMinutesHelp}>
        <Input value={minutes} type="number" inputMode="numeric" onChange={({ detail }) => setMinutes(detail.value)} />
      </Field>
    </Dialog>
  );
}
