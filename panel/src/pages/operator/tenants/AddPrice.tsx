import ColumnLayout from "@cloudscape-design/components/column-layout";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import Select from "@cloudscape-design/components/select";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { regions } from "../../../api/queries";
import { addPrice, listPrices } from "../../../api/tenants";
import { useFlash } from "../../../app/Flashes";
import { Consequences } from "../../../components/Consequences";
import { Dialog } from "../../../components/Dialog";
import { Field } from "../../../components/Field";
import { MoneyField, PRICE_DIGITS } from "../../../components/MoneyField";
import { MomentInput } from "../../../components/MomentInput";
import { useChange } from "../../../components/useChange";
import { useFormat } from "../../../i18n";
import { useTenantStrings } from "../../../i18n/tenants";
import { AccountField } from "./AccountField";

const SOURCE_LENGTH = 200;

/** The versions begin at whole seconds. */
const second = (iso: string) => iso.replace(/\.\d+Z$/, "Z");

/** A version of a price, of the list or of one account's contract. */
export function AddPrice({ onClose }: { onClose: () => void }) {
  const s = useTenantStrings();
  const flash = useFlash();
  const places = useQuery(regions).data?.items ?? [];
  const listed = useQuery(listPrices).data?.items ?? [];
  const skus = [...new Set(listed.map((each) => each.sku))].toSorted();
  const [sku, setSku] = useState("");
  const [region, setRegion] = useState("");
  const [account, setAccount] = useState("");
  const [chosen, setCurrency] = useState("");
  const currency = chosen || (listed[0]?.unit_price.currency ?? "EUR");
  const f = useFormat();
  const [typed, setTyped] = useState("");
  const amount = f.fromDecimal(typed, PRICE_DIGITS);
  const [from, setFrom] = useState("");
  const [to, setTo] = useState("");
  const [source, setSource] = useState("");
  const run = useChange(
    () => addPrice({
      sku, region, account_id: account || null, unit_price: { amount: amount ?? "", currency }, source: source.trim(),
      valid_from: second(from), valid_to: to ? second(to) : null,
    }),
    () => {
      flash({ type: "success", content: s.added(sku) });
      onClose();
    },
    "operator",
  );
  const select = (label: string, value: string, options: { value: string; label: string }[], choose: (value: string) => void) => (
    <FormField label={label}>
      <Select options={options} selectedOption={options.find((each) => each.value === value) ?? null} onChange={({ detail }) => choose(detail.selectedOption.value ?? "")} />
    </FormField>
  );
  const ready = [sku, region, amount, from, source.trim()].every(Boolean);
  return (
    <Dialog title={s.addPrice} submit={s.addPrice} ready={ready} pending={run.isPending} error={run.error} onSubmit={() => run.mutate()} onClose={onClose} large>
      <Consequences lines={[s.addText]} />
      <ColumnLayout columns={2}>
        {select(s.sku, sku, skus.map((each) => ({ value: each, label: each })), setSku)}
        {select(s.region, region, places.map((each) => ({ value: each.slug, label: each.name })), setRegion)}
        <AccountField
          label={s.account}
          value={account}
          everybody
          onChange={(id, payer) => {
            setAccount(id);
            if (payer) setCurrency(payer.currency);
          }}
        />
        <MoneyField at="/items/0/unit_price" label={s.amount(currency)} currency={currency} value={typed} digits={PRICE_DIGITS} onChange={setTyped} />
        <Field at="/items/0/valid_from" label={s.validFrom} description={s.fromHelp}><MomentInput label={s.validFrom} value={from} onChange={setFrom} /></Field>
        <Field at="/items/0/valid_to" label={s.validTo} description={s.toHelp}><MomentInput label={s.validTo} value={to} onChange={setTo} /></Field>
      </ColumnLayout>
      <Field at="/items/0/source" label={s.source} description={s.sourceHelp}>
        <Input value={source} onChange={({ detail }) => setSource(detail.value.slice(0, SOURCE_LENGTH))} />
      </Field>
    </Dialog>
  );
}
