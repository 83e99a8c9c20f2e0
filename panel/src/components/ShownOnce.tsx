import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import CopyToClipboard from "@cloudscape-design/components/copy-to-clipboard";
import { useStrings } from "../i18n";
import { Notice } from "./Notice";

/** A secret that the API shows only now; closing the dialog forgets it. */
export function ShownOnce({ title, text, secret, onClose }: { title: string; text: string; secret: string; onClose: () => void }) {
  const s = useStrings().common;
  return (
    <Notice large kept title={title} close={s.keptIt} onClose={onClose}>
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
    </Notice>
  );
}
