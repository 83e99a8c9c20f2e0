import Alert from "@cloudscape-design/components/alert";
import FormField from "@cloudscape-design/components/form-field";
import Select from "@cloudscape-design/components/select";
import { useQuery } from "@tanstack/react-query";
import { activeReservations } from "../../api/reservations";
import { useProject } from "../../app/Project";
import { useFormat } from "../../i18n";
import { useReservationStrings } from "../../i18n/reservations";
import type { Change, Draft } from "./draft";

/** From which reservation the cluster is created, in a project that has one; nothing in others. */
export function ReservationChoice({ draft, change }: { draft: Draft; change: Change }) {
  const s = useReservationStrings();
  const f = useFormat();
  const { data } = useQuery(activeReservations(useProject()));
  const usable = (data?.items ?? []).filter((each) => each.left > 0);
  if (!data || (usable.length === 0 && !draft.reservation)) return null;
  const none = { value: "", label: s.wizardNone, description: s.wizardNoneText };
  const options = usable.map((each) => ({
    value: each.id,
    label: `${each.name}: ${each.flavor}`,
    description: s.wizardOption(f.number(each.left), f.number(each.count), f.moment(each.ends_at)),
  }));
  const chosen = options.find((each) => each.value === draft.reservation);
  const choose = (id: string) => {
    const found = usable.find((each) => each.id === id);
    change(found ? { reservation: id, region: found.region, flavor: found.flavor, servers: undefined, image: "", volumes: [], wait: false, preemptible: false } : { reservation: "" });
  };
  return (
    <FormField label={s.wizard} description={s.wizardText} errorText={draft.reservation && !chosen ? s.wizardGone : undefined}>
      <Select
        triggerVariant="option"
        options={[none, ...options]}
        selectedOption={draft.reservation ? (chosen ?? null) : none}
        onChange={({ detail }) => choose(detail.selectedOption.value ?? "")}
      />
    </FormField>
  );
}

/** In place of a price: the cluster is paid for by its reservation. */
export function ReservedTerms({ reservation }: { reservation: string }) {
  const s = useReservationStrings();
  const f = useFormat();
  const found = useQuery(activeReservations(useProject())).data?.items.find((each) => each.id === reservation);
  if (!found) return <Alert type="warning">{s.wizardGone}</Alert>;
  return <Alert type="success">{s.wizardTerms(found.name, f.moment(found.ends_at))}</Alert>;
}
