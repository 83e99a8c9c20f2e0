import type { BillingScope } from "../api/billing";
import { useChoice } from "./Project";

/** Whose money the billing pages show: a payer's token sees its account's, every other the chosen project's. */
export function useBillingScope(): BillingScope {
  const { who, slug } = useChoice();
  return who.token.account_id ? { account: who.token.account_id } : { project: slug };
}
