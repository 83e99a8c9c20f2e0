import ColumnLayout from "@cloudscape-design/components/column-layout";
import Input from "@cloudscape-design/components/input";
import Select from "@cloudscape-design/components/select";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { createReservation, reservationEstimate } from "../../api/reservations";
import { regions } from "../../api/queries";
import { useFlash } from "../../app/Flashes";
import { useProject } from "../../app/Project";
import { Dialog } from "../../components/Dialog";
import { Field } from "../../components/Field";
import { MomentInput } from "../../components/MomentInput";
import { useChange } from "../../components/useChange";
import { useSettled } from "../../components/useSettled";
import { useFormat, useStrings } from "../../i18n";
import { useReservationStrings } from "../../i18n/reservations";
import { first, named, pricedOf, type Draft } from "./draft";
import { Estimate } from "./Estimate";
import type { Offer } from "./useOffers";

type Props = { offers: Offer[]; flavor: string; region: string; onClose: (made?: string) => void };

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
  return (
    <Dialog
      large
      title={s.reserve}
      submit={s.reserve}
      ready={named(draft) && current !== undefined && current.quota.allowed && current.capacity.available}
      pending={run.isPending}
      error={error}
      onSubmit={() => run.mutate()}
      onClose={() => onClose()}
    >
      <Field at="/name" label={common.name} description={s.nameRule} errorText={draft.name && !named(draft) ? s.nameRule : undefined}>
        <Input value={draft.name} onChange={({ detail }) => change({ name: detail.value })} />
      </Field>
      <What offers={offers} draft={draft} change={change} />
      <ColumnLayout columns={2}>
        <Field at="/starts_at" label={s.starts} description={s.startsHelp}>
          <MomentInput label={s.starts} value={draft.starts} onChange={(starts) => change({ starts })} />
        </Field>
        <Field at="/ends_at" label={s.ends} description={s.endsHelp}>
          <MomentInput label={s.ends} value={draft.ends} onChange={(ends) => change({ ends })} />
        </Field>
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

type WhatProps = { offers: Offer[]; draft: Draft; change: (part: Partial<Draft>) => void };

/** Which flavor, where and for how many clusters. */
function What({ offers, draft, change }: WhatProps) {
  const s = useReservationStrings();
  const f = useFormat();
  const names = new Map(useQuery(regions).data?.items.map((each) => [each.slug, each.name]));
  const places = [...new Set(offers.map((each) => each.region))].map((slug) => ({ value: slug, label: names.get(slug) ?? slug }));
  const flavors = offers.filter((each) => each.region === draft.region).map(({ flavor, perHour }) => ({
    value: flavor.name, label: flavor.name, description: s.flavorOf(f.number(flavor.ipus), f.money(perHour)),
  }));
  return (
    <ColumnLayout columns={3}>
      <Field at="/region" label={s.region}>
        <Select
          options={places}
          selectedOption={places.find((each) => each.value === draft.region) ?? null}
          onChange={({ detail }) => change({ region: detail.selectedOption.value ?? "", flavor: "" })}
        />
      </Field>
      <Field at="/flavor" label={s.flavor}>
        <Select
          placeholder={s.chooseFlavor}
          options={flavors}
          selectedOption={flavors.find((each) => each.value === draft.flavor) ?? null}
          onChange={({ detail }) => change({ flavor: detail.selectedOption.value ?? "" })}
        />
      </Field>
      <Field at="/count" label={s.count} constraintText={s.countHelp}>
        <Input value={draft.count} onChange={({ detail }) => change({ count: detail.value })} type="number" inputMode="numeric" />
      </Field>
    </ColumnLayout>
  );
}
