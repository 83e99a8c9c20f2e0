import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import Form from "@cloudscape-design/components/form";
import FormField from "@cloudscape-design/components/form-field";
import Header from "@cloudscape-design/components/header";
import Input from "@cloudscape-design/components/input";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useNavigate } from "react-router";
import type { Schemas } from "../api/client";
import { acceptInvitation, showInvitation } from "../api/people";
import { signIn } from "../api/session";
import { Failure } from "../components/Failure";
import { ProviderButtons } from "../components/ProviderButtons";
import { Loading } from "../components/Loading";
import { useStrings } from "../i18n";

/** The secret is in the address's fragment, which is never sent; it is removed, and stays in this page's memory alone. */
function takeSecret(): string {
  const secret = new URLSearchParams(location.hash.slice(1)).get("secret") ?? "";
  if (secret) history.replaceState(history.state, "", location.pathname);
  return secret;
}

let taken = "";

/** Where the link of an invitation leads: the person enters a password, and is signed in. */
export function AcceptInvitation() {
  const { members: s, signIn: words } = useStrings();
  const [secret] = useState(() => (taken = takeSecret() || taken)); // in development React asks twice
  const { mutate: look, data, error } = useMutation({ mutationFn: showInvitation });
  useEffect(() => look(secret || "none"), [look, secret]);
  if (!data)
    return (
      <main className="sign-in">
        {error ? <Container header={<Header variant="h1">{words.title}</Header>}><Failure error={error} /></Container> : <Loading />}
      </main>
    );
  return <main className="sign-in"><Accept invited={data} secret={secret} title={s.joinTitle(data.project_name ?? s.account)} /></main>;
}

function Accept({ invited, secret, title }: { invited: Schemas["Invited"]; secret: string; title: string }) {
  const { members: s, shell, signIn: words } = useStrings();
  const go = useNavigate();
  const cache = useQueryClient();
  const [password, setPassword] = useState("");
  const [again, setAgain] = useState("");
  const { mutate, isPending, error } = useMutation({
    mutationFn: async () => {
      await acceptInvitation(secret, password);
      await signIn({ email: invited.email, password, ...(invited.project ? { project: invited.project } : {}) });
    },
    onSuccess: () => {
      cache.clear();
      void go("/", { replace: true });
    },
  });
  const known = invited.has_account;
  const differs = !known && again !== "" && again !== password;
  const ready = known ? password !== "" : password.length >= 12 && again === password;
  return (
    <form onSubmit={(event) => { event.preventDefault(); if (ready && !isPending) mutate(); }}>
      <Container header={<Header variant="h1" description={s.joinText(invited.invited_by ?? "", shell.roles[invited.role] ?? invited.role)}>{title}</Header>}>
        <Form actions={<Button variant="primary" formAction="submit" loading={isPending} disabled={!ready}>{s.join}</Button>}>
          <SpaceBetween size="m">
            <FormField label={s.email}><Input type="email" value={invited.email} readOnly autoComplete="username" /></FormField>
            <FormField label={words.password} description={known ? s.knownText : s.passwordText}>
              <Input type="password" value={password} onChange={({ detail }) => setPassword(detail.value)} autoComplete={known ? "current-password" : "new-password"} autoFocus />
            </FormField>
            {!known && (
              <FormField label={s.again} errorText={differs ? s.differs : undefined}>
                <Input type="password" value={again} onChange={({ detail }) => setAgain(detail.value)} autoComplete="new-password" />
              </FormField>
            )}
            <Failure error={error} />
            <ProviderButtons invitation={secret} />
          </SpaceBetween>
        </Form>
      </Container>
    </form>
  );
}
