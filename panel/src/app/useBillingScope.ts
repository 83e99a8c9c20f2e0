import type { BillingScope } from "../api/billing";
import { useChange } from "../components/useChange";
import { useChoice } from "./Project";

/** Whose money the billing pages show: a payer's token sees its account's, every other the chosen project's. */
export function useBillingScope(): BillingScope {
  const { who, slug } = useChoice();
  return who.token.account_id ? { account: who.token.account_id } : { project: slug };
}

/** Whether the signed-in token may do something to the money: a payer's to its account what the others' may to their project. */
export function useMayPay(permission: "billing:write" | "s3-connection:write"): boolean {
  const { who } = useChoice();
  return who.scopes.includes(who.token.account_id ? "account:write" : permission);
}

/** A change of what the billing pages show. */
export function useBillingChange<Answer, Input = void>(change: (input: Input) => Promise<Answer>, done?: (answer: Answer, input: Input) => void) {
  return useChange(change, done, "account" in useBillingScope() ? "account" : "project");
}
