import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useNavigate } from "react-router";
import { signIn } from "../api/session";
import { takeNext } from "../api/signIn";
import { Failure } from "../components/Failure";
import { useStrings } from "../i18n";

type Answer = { authorization_code: string; state: string } | null;

/** The provider's answer is in the address; it is removed from the history before it is used. */
function takeAnswer(): Answer {
  const query = new URLSearchParams(location.search);
  const code = query.get("code");
  const state = query.get("state");
  history.replaceState(history.state, "", location.pathname);
  return code && state ? { authorization_code: code, state } : null;
}

let taken: Answer = null;

/** Where an identity provider returns the browser. */
export function SignInReturn() {
  const s = useStrings().signIn;
  const go = useNavigate();
  const cache = useQueryClient();
  const [answer] = useState(() => (taken = takeAnswer() ?? taken)); // in development React asks twice
  const { mutate, error } = useMutation({
    mutationFn: signIn,
    onSuccess: () => {
      taken = null;
      cache.clear();
      void go(takeNext(), { replace: true });
    },
  });
  useEffect(() => {
    if (answer) mutate(answer);
  }, [answer, mutate]);
  if (answer && !error) return <main className="sign-in"><StatusIndicator type="loading">{s.byLink}</StatusIndicator></main>;
  return (
    <main className="sign-in">
      <Container header={<Header variant="h1">{s.title}</Header>}>
        <SpaceBetween size="m">
          {error ? <Failure error={error} /> : <StatusIndicator type="error">{s.notSignedIn}</StatusIndicator>}
          <Button variant="primary" onClick={() => { taken = null; void go("/sign-in", { replace: true }); }}>{s.again}</Button>
        </SpaceBetween>
      </Container>
    </main>
  );
}
