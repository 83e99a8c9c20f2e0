import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import ExpandableSection from "@cloudscape-design/components/expandable-section";
import Form from "@cloudscape-design/components/form";
import FormField from "@cloudscape-design/components/form-field";
import Header from "@cloudscape-design/components/header";
import Input from "@cloudscape-design/components/input";
import SpaceBetween from "@cloudscape-design/components/space-between";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useLocation, useNavigate, useSearchParams } from "react-router";
import type { Schemas } from "../api/client";
import { signIn } from "../api/session";
import { ownPath } from "../api/signIn";
import { Failure } from "../components/Failure";
import { ProviderButtons } from "../components/ProviderButtons";
import { useStrings } from "../i18n";

/** The code of a sign-in link is in the address's fragment, which is never sent; it is removed before it is used. */
function takeCode(): string | null {
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  if (code) history.replaceState(history.state, "", location.pathname + location.search);
  return code;
}

export function SignIn() {
  const s = useStrings().signIn;
  const go = useNavigate();
  const cache = useQueryClient();
  const [params] = useSearchParams();
  const left = useLocation().state as Schemas["SignedInProvider"] | null;
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const [token, setToken] = useState("");
  const { mutate, isPending, error, variables } = useMutation({
    mutationFn: signIn,
    onSuccess: () => {
      cache.clear();
      void go(ownPath(params.get("next")), { replace: true });
    },
  });
  const byEmail = variables !== undefined && "email" in variables;
  useEffect(() => {
    const code = takeCode();
    if (code) mutate({ code });
  }, [mutate]);
  if (isPending && variables && "code" in variables)
    return <main className="sign-in"><StatusIndicator type="loading">{s.byLink}</StatusIndicator></main>;
  return (
    <main className="sign-in">
      <SpaceBetween size="l">
        {left && (
          <Container header={<Header variant="h2">{s.signedOut}</Header>}>
            <SpaceBetween size="m">
              <Box>{s.signedInAt(left.title)}</Box>
              <Button href={left.sign_out_url}>{s.signOutAt(left.title)}</Button>
            </SpaceBetween>
          </Container>
        )}
        <form onSubmit={(event) => { event.preventDefault(); mutate({ email: email.trim(), password }); }}>
          <Container header={<Header variant="h1">{s.title}</Header>}>
            <Form actions={<Button variant="primary" formAction="submit" loading={isPending && byEmail} disabled={!email || !password}>{s.submit}</Button>}>
              <SpaceBetween size="m">
                <FormField label={s.email}>
                  <Input type="email" value={email} onChange={(event) => setEmail(event.detail.value)} autoComplete="username" autoFocus />
                </FormField>
                <FormField label={s.password}>
                  <Input type="password" value={password} onChange={(event) => setPassword(event.detail.value)} autoComplete="current-password" />
                </FormField>
                {byEmail && <Failure error={error} />}
                <ProviderButtons next={ownPath(params.get("next"))} />
              </SpaceBetween>
            </Form>
          </Container>
        </form>
        <form onSubmit={(event) => { event.preventDefault(); mutate({ token: token.trim() }); }}>
          <Container header={<Header variant="h2">{s.withToken}</Header>}>
            <Form actions={<Button formAction="submit" loading={isPending && !byEmail} disabled={!token}>{s.submitToken}</Button>}>
              <SpaceBetween size="m">
                <FormField label={s.token} description={s.help}>
                  <Input type="password" value={token} onChange={(event) => setToken(event.detail.value)} autoComplete="off" />
                </FormField>
                {!byEmail && <Failure error={error} />}
                <ExpandableSection headerText={s.where}><Box>{s.whereText}</Box></ExpandableSection>
              </SpaceBetween>
            </Form>
          </Container>
        </form>
      </SpaceBetween>
    </main>
  );
}
