import ColumnLayout from "@cloudscape-design/components/column-layout";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import Select from "@cloudscape-design/components/select";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError } from "../../api/client";
import { createReservation, reservationEstimate } from "../../api/reservations";
import { regions } from "../../api/queries";
import { useFlash } from "../../app/Flashes";
import { useProject } from "../../app/Project";
import { Dialog } from "../../components/Dialog";
import { MomentInput } from "../../components/MomentInput";
import { useChange } from "../../components/useChange";
import { useSettled } from "../../components/useSettled";
import { useFormat, useStrings } from "../../i18n";
import { useReservationStrings } from "../../i18n/reservations";
import { first, named, pricedOf, wrongWith, type Draft } from "./draft";
import { Estimate } from "./Estimate";
import type { Offer } from "./useOffers";

type Props = { offers: Offer[]; flavor: string; region: string; onClose: (made?: string) => void };

const FIELDS = ["name", "region", "flavor", "count", "starts_at", "ends_at"];

/** Reserves capacity: what it costs, whether it fits and what it commits to is shown before. */
export function Reserve({ offers, flavor, region, onClose }: Props) {
  const { common } = useStrings();
  const s = useReservationStrings();
  const flash = useFlash();
  const project = useProject();
  const [draft, setDraft] = useState(() => first(new Date(), offers.some((each) => each.region === region) ? region : (offers[0]?.region ?? ""), flavor));
  const change = (part: Partial<Draft>) => setDraft((now) => ({ ...now, ...part }));
  const priced = pricedOf(draft);
  const asked = useSettled(priced, JSON.stringify(priced));
  const estimate = useQuery(reservationEstimate(project, asked.value));
  const current = asked.settled && estimate.isSuccess && !estimate.isPlaceholderData ? estimate.data : undefined;
  const run = useChange(() => createReservation(project, { ...(priced as NonNullable<typeof priced>), name: draft.name }), (made) => {
    flash({ type: "success", content: s.reserved(made.name) });
    onClose(made.id);
  });
  const error = run.error ?? (asked.value && estimate.error);
  const wrong = (field: string) => wrongWith(error, field);
  const elsewhere = error instanceof ApiError && error.fields.length > 0 && error.fields.every((each) => FIELDS.includes(each.pointer.slice(1)));
  return (
    <Dialog
      large
      title={s.reserve}
      submit={s.reserve}
      ready={named(draft) && current !== undefined && current.quota.allowed && current.capacity.available}
      pending={run.isPending}
      error={elsewhere ? null : error}
      onSubmit={() => run.mutate()}
      onClose={() => onClose()}
    >
      <FormField label={common.name} description={s.nameRule} errorText={draft.name && !named(draft) ? s.nameRule : wrong("name")}>
        <Input value={draft.name} onChange={({ detail }) => change({ name: detail.value })} />
      </FormField>
      <What offers={offers} draft={draft} change={change} wrong={wrong} />
      <ColumnLayout columns={2}>
        <FormField label={s.starts} description={s.startsHelp} errorText={wrong("starts_at")}>
          <MomentInput label={s.starts} value={draft.starts} onChange={(starts) => change({ starts })} />
        </FormField>
        <FormField label={s.ends} description={s.endsHelp} errorText={wrong("ends_at")}>
          <MomentInput label={s.ends} value={draft.ends} onChange={(ends) => change({ ends })} />
        </FormField>
      </ColumnLayout>
      <Estimate
        wanted={asked.value}
        found={priced && !estimate.isError ? estimate.data : undefined}
        pending={priced !== null && !error && current === undefined}
        onCount={(count) => change({ count: String(count) })}
      />
    </Dialog>
  );
}

type WhatProps = { offers: Offer[]; draft: Draft; change: (part: Partial<Draft>) => void; wrong: (field: string) => string | undefined };

/** Which flavor, where and for how many clusters. */
function What({ offers, draft, change, wrong }: WhatProps) {
  const s = useReservationStrings();
  const f = useFormat();
  const names = new Map(useQuery(regions).data?.items.map((each) => [each.slug, each.name]));
  const places = [...new Set(offers.map((each) => each.region))].map((slug) => ({ value: slug, label: names.get(slug) ?? slug }));
  const flavors = offers.filter((each) => each.region === draft.region).map(({ flavor, perHour }) => ({
    value: flavor.name, label: flavor.name, description: s.flavorOf(f.number(flavor.ipus), f.money(perHour)),
  }));
  return (
    <ColumnLayout columns={3}>
      <FormField label={s.region} errorText={wrong("region")}>
        <Select
          options={places}
          selectedOption={places.find((each) => each.value === draft.region) ?? null}
          onChange={({ detail }) => change({ region: detail.selectedOption.value ?? "", flavor: "" })}
        />
      </FormField>
      <FormField label={s.flavor} errorText={wrong("flavor")}>
        <Select
          placeholder={s.chooseFlavor}
          options={flavors}
          selectedOption={flavors.find((each) => each.value === draft.flavor) ?? null}
          onChange={({ detail }) => change({ flavor: detail.selectedOption.value ?? "" })}
        />
      </FormField>
      <FormField label={s.count} constraintText={s.countHelp} errorText={wrong("count")}>
        <Input value={draft.count} onChange={({ detail }) => change({ count: detail.value })} type="number" inputMode="numeric" />
      </FormField>
    </ColumnLayout>
  );
}
