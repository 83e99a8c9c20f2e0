import Button from "@cloudscape-design/components/button";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useMutation, useQuery } from "@tanstack/react-query";
import { goToProvider, signInProviders } from "../api/signIn";
import { useStrings } from "../i18n";
import { Failure } from "./Failure";

/** A button for each identity provider; nothing where there is none. */
export function ProviderButtons({ invitation = null, next = "/" }: { invitation?: string | null; next?: string }) {
  const s = useStrings().signIn;
  const { data } = useQuery(signInProviders);
  const { mutate, isPending, error, variables } = useMutation({ mutationFn: (name: string) => goToProvider(name, invitation, next) });
  if (!data?.items.length) return null;
  return (
    <SpaceBetween size="s">
      {data.items.map(({ name, title }) => (
        <Button key={name} formAction="none" fullWidth loading={isPending && variables === name} onClick={() => mutate(name)}>{s.through(title)}</Button>
      ))}
      <Failure error={error} />
    </SpaceBetween>
  );
}
