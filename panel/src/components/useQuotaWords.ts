import { ADDRESS_SKU } from "../api/addresses";
import { VOLUME_SKU } from "../api/volumes";
import { useFormat, useStrings } from "../i18n";

/** Says which limit is meant, such as "16 × m2000, luxembourg-2". */
export function useQuotaWords() {
  const { quotas: s } = useStrings();
  const f = useFormat();
  return ({ limit, machine_type, region }: { limit: number; machine_type: string; region: string }) =>
    machine_type === ADDRESS_SKU ? s.addressesIn(f.number(limit), region)
    : machine_type === VOLUME_SKU ? s.volumesIn(f.number(limit), region) : s.machinesIn(f.number(limit), machine_type, region);
}

/** What quotas are of that is no machine, in words by type. */
export function useTypeWords(): Record<string, string> {
  const { volumes, addresses } = useStrings().quotas;
  return { [VOLUME_SKU]: volumes, [ADDRESS_SKU]: addresses };
}
