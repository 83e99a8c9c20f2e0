import ButtonDropdown from "@cloudscape-design/components/button-dropdown";
import { useMutation } from "@tanstack/react-query";
import { type BillingScope, E_INVOICES, type EInvoice, eInvoice } from "../../api/billing";
import { useStrings } from "../../i18n";

/** Saves an issued document as electronic invoice. `onRefused`: why it cannot be, or null once it could. */
export function EInvoices({ scope, number, onRefused }: { scope: BillingScope; number: string; onRefused: (error: unknown) => void }) {
  const s = useStrings().billing;
  const { mutate, isPending } = useMutation({
    mutationFn: (format: EInvoice) => eInvoice(scope, number, format),
    onSuccess: (file, format) => {
      onRefused(null);
      save(file, `${number}.${format === "factur-x" ? "pdf" : "xml"}`);
    },
    onError: onRefused,
  });
  return (
    <ButtonDropdown
      loading={isPending}
      items={E_INVOICES.map((id) => ({ id, text: s.eInvoices[id] }))}
      onItemClick={({ detail }) => mutate(detail.id as EInvoice)}
    >
      {s.eInvoice}
    </ButtonDropdown>
  );
}

function save(file: Blob, name: string) {
  const url = URL.createObjectURL(file);
  Object.assign(document.createElement("a"), { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url));
}
