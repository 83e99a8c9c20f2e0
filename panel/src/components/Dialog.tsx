import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Modal from "@cloudscape-design/components/modal";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useId, type ReactNode } from "react";
import { useStrings } from "../i18n";
import { Failure } from "./Failure";

type Props = {
  title: string;
  submit: string;
  /** What the button that closes it says, where "Cancel" could be read as the action. */
  cancel?: string;
  ready?: boolean;
  pending: boolean;
  error: unknown;
  onSubmit: () => void;
  onClose: () => void;
  large?: boolean;
  children: ReactNode;
};

/** A question in a dialog: its fields, what went wrong, and the buttons that answer it. Enter submits it. */
export function Dialog({ title, submit, cancel, ready = true, pending, error, onSubmit, onClose, large = false, children }: Props) {
  const s = useStrings().common;
  const form = useId();
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
            <Button variant="primary" form={form} disabled={!ready} loading={pending}>{submit}</Button>
          </SpaceBetween>
        </Box>
      }
    >
      <form
        id={form}
        onSubmit={(event) => {
          event.preventDefault();
          if (ready && !pending) onSubmit();
        }}
      >
        <SpaceBetween size="m">
          {children}
          <Failure error={error} />
        </SpaceBetween>
      </form>
    </Modal>
  );
}
