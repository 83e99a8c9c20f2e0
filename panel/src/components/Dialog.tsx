import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Modal from "@cloudscape-design/components/modal";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useEffect, useId, useRef, type ReactNode } from "react";
import { useStrings } from "../i18n";
import { Failure } from "./Failure";
import { Refusable } from "./Field";

type Props = {
  title: string;
  submit: string;
  /** What the button that closes it says, where "Cancel" could be read as the action. */
  cancel?: string;
  ready?: boolean;
  /** What it is not ready for, if that is not a field to fill in. */
  missing?: string;
  pending: boolean;
  error: unknown;
  onSubmit: () => void;
  onClose: () => void;
  large?: boolean;
  children: ReactNode;
};

/** A question in a dialog: its fields, what went wrong, and the buttons that answer it. Enter submits it, and the first field that is refused has the focus. */
export function Dialog({ title, submit, cancel, ready = true, missing, pending, error, onSubmit, onClose, large = false, children }: Props) {
  const s = useStrings().common;
  const form = useId();
  const sent = useRef(false);
  useEffect(() => {
    if (!error || !sent.current) return;
    sent.current = false;
    document.getElementById(form)?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
  }, [error, form]);
  return (
    <Modal
      visible
      size={large ? "large" : "medium"}
      header={title}
      closeAriaLabel={s.close}
      onDismiss={onClose}
      footer={
        <Box float="right">
          <SpaceBetween direction="horizontal" size="xs">
            <Button variant="link" onClick={onClose}>{cancel ?? s.cancel}</Button>
            <Button variant="primary" form={form} disabled={!ready} disabledReason={missing ?? s.notReady} loading={pending}>{submit}</Button>
          </SpaceBetween>
        </Box>
      }
    >
      <form
        id={form}
        onSubmit={(event) => {
          event.preventDefault();
          if (!ready || pending) return;
          sent.current = true;
          onSubmit();
        }}
      >
        <Refusable error={error}>
          <SpaceBetween size="m">
            {children}
            <Failure error={error} />
          </SpaceBetween>
        </Refusable>
      </form>
    </Modal>
  );
}
