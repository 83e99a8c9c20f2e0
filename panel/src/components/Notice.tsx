import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Modal from "@cloudscape-design/components/modal";
import SpaceBetween from "@cloudscape-design/components/space-between";
import type { ReactNode } from "react";
import { useStrings } from "../i18n";

type Props = {
  title: string;
  close?: string;
  onClose: () => void;
  large?: boolean;
  /** What it shows is lost with it: Escape, or a click beside it, does not close it. */
  kept?: boolean;
  children: ReactNode;
};

/** Something to read in a dialog, and the button that closes it. */
export function Notice({ title, close, onClose, large = false, kept = false, children }: Props) {
  const s = useStrings().common;
  return (
    <Modal
      visible
      size={large ? "large" : "medium"}
      header={title}
      closeAriaLabel={s.close}
      onDismiss={({ detail }) => { if (!kept || detail.reason === "closeButton") onClose(); }}
      footer={<Box float="right"><Button variant="primary" onClick={onClose}>{close ?? s.close}</Button></Box>}
    >
      <SpaceBetween size="m">{children}</SpaceBetween>
    </Modal>
  );
}
