import Input from "@cloudscape-design/components/input";
import { render, screen, waitFor } from "@testing-library/react";
import { fireEvent } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import { ApiError } from "../api/client";
import type { Service } from "../api/services";
import { Dialog } from "../components/Dialog";
import { Field } from "../components/Field";
import { Localised } from "../i18n";
import { changesOf, releaseLike } from "../pages/services/Deploy";
import { off } from "./shown";

const fault = (pointer: string, detail: string) => ({ pointer, code: "invalid", detail });
const refused = new ApiError(422, "validation_failed", "Nothing was made; `errors` lists why.", "r1", [
  fault("/tags/team", "Letters only."), fault("/region", "There is no such region."),
]);

function asked(error: unknown, ready = true) {
  const dialog = (now: unknown) => (
    <Localised>
      <Dialog title="Make" submit="Make it" ready={ready} missing="Say which." pending={false} error={now} onSubmit={vi.fn()} onClose={vi.fn()}>
        <Field at="/name" label="Name"><Input value="bert" onChange={vi.fn()} /></Field>
        <Field at="/tags" label="Tags"><Input value="team" onChange={vi.fn()} /></Field>
      </Dialog>
    </Localised>
  );
  const { rerender } = render(dialog(null));
  return async () => {
    fireEvent.submit((await screen.findByLabelText("Tags")).closest("form") as HTMLElement);
    rerender(dialog(error));
  };
}

test("what is refused of a field stands at it and has the focus, what has no field stands below", async () => {
  await asked(refused)();
  const tags = await screen.findByLabelText("Tags");
  await waitFor(() => expect(tags.getAttribute("aria-invalid")).toBe("true"));
  expect(document.activeElement).toBe(tags);
  const said = document.getElementById((tags.getAttribute("aria-describedby") ?? "").split(" ")[0] ?? "");
  expect(said?.textContent).toContain("Letters only.");
  expect(screen.getByLabelText("Name").getAttribute("aria-invalid")).not.toBe("true");
  expect(screen.getByText("region: There is no such region.")).toBeTruthy();
  expect(screen.queryByText(/tags\/team|`errors`/)).toBeNull();
});

test("a button that cannot be pressed says why", async () => {
  asked(null, false);
  await screen.findByRole("dialog");
  expect(off("Make it")).toBe(true);
  fireEvent.focus(screen.getByRole("button", { name: "Make it" }));
  expect(screen.getAllByText("Say which.").length).toBeGreaterThan(0);
});

test("a deploy sends what is changed of the present release, and keeps the rest", () => {
  const service = {
    command: ["python3", "app.py", "a b"], directory: "app", poplar_server: "p0", image: "app:1", registry_username: "ann", port: 8000, environment: ["MODEL"],
  } as unknown as Service;
  const same = releaseLike(service);
  expect(same.line).toBe("python3 app.py 'a b'");
  expect(changesOf(service, same)).toEqual({});
  expect(changesOf(service, { ...same, line: "python3 next.py", directory: "" })).toEqual({ command: ["python3", "next.py"], directory: null });
  expect(changesOf(service, { ...same, image: "app:2", password: "secret" })).toEqual({ image: "app:2", registry: { username: "ann", password: "secret" } });
  expect(changesOf(service, { ...same, image: "" })).toEqual({ image: null, registry: null });
  expect(changesOf(service, { ...same, port: "9000", anew: true })).toEqual({ port: 9000, environment: {} });
});
