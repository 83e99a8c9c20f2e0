import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import CopyToClipboard from "@cloudscape-design/components/copy-to-clipboard";
import Modal from "@cloudscape-design/components/modal";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useStrings } from "../i18n";

/** A secret that the API shows only now; closing the dialog forgets it. */
export function ShownOnce({ title, text, secret, onClose }: { title: string; text: string; secret: string; onClose: () => void }) {
  const s = useStrings().common;
  return (
    <Modal
      visible
      size="large"
      header={title}
      closeAriaLabel={s.close}
      onDismiss={onClose}
      footer={<Box float="right"><Button variant="primary" onClick={onClose}>{s.keptIt}</Button></Box>}
    >
      <SpaceBetween size="m">
        <Alert type="warning">{s.shownOnce}</Alert>
        <Box>{text}</Box>
        <div className="secret">
          <code>{secret}</code>
          <CopyToClipboard
            copyButtonText={s.copy}
            textToCopy={secret}
            copyButtonAriaLabel={`${s.copy}: ${title}`}
            copySuccessText={s.copied}
            copyErrorText={s.copyFailed}
          />
        </div>
      </SpaceBetween>
    </Modal>
  );
}
