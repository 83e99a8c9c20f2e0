import CopyToClipboard from "@cloudscape-design/components/copy-to-clipboard";
import { useStrings } from "../i18n";

type Props = { text: string; label: string; hidden?: boolean };

/** A text with a button that copies it; `hidden` where the text is shown elsewhere. */
export function Copyable({ text, label, hidden = false }: Props) {
  const s = useStrings().common;
  return (
    <CopyToClipboard
      variant={hidden ? "button" : "inline"}
      copyButtonText={hidden ? s.copy : undefined}
      textToCopy={text}
      copyButtonAriaLabel={`${s.copy}: ${label}`}
      copySuccessText={s.copied}
      copyErrorText={s.copyFailed}
    />
  );
}
