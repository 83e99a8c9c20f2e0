import "@cloudscape-design/global-styles/index.css";
import "./app/panel.css";
import "virtual:theme.css";
import { QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { RouterProvider } from "react-router/dom";
import { ApiError } from "./api/client";
import { whoami } from "./api/session";
import { applyPreferredMode } from "./app/mode";
import { makeRouter } from "./app/routes";
import { Localised } from "./i18n";

applyPreferredMode();

/** A session that ended leads to the sign-in page, which leads back. */
function askToSignIn(error: Error): void {
  const { pathname, search } = router.state.location;
  if (error instanceof ApiError && error.status === 401 && pathname !== "/sign-in")
    void router.navigate(`/sign-in?next=${encodeURIComponent(pathname + search)}`, { replace: true });
}

const queries = new QueryClient({
  queryCache: new QueryCache({ onError: askToSignIn }),
  defaultOptions: {
    queries: { staleTime: 10_000, retry: (failures, error) => failures < 2 && !(error instanceof ApiError && error.status < 500) },
  },
});

const router = makeRouter(() => void queries.prefetchQuery(whoami));

createRoot(document.getElementById("root") as HTMLElement).render(
  <StrictMode>
    <Localised>
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </Localised>
  </StrictMode>,
);
