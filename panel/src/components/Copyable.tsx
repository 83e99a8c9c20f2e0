import CopyToClipboard from "@cloudscape-design/components/copy-to-clipboard";
import { useStrings } from "../i18n";

type Props = { text: string; label: string; hidden?: boolean; command?: boolean };

/** A text with a button that copies it; `hidden` where the text is shown elsewhere, `command` for what is typed. */
export function Copyable({ text, label, hidden = false, command = false }: Props) {
  const s = useStrings().common;
  const shown = (
    <CopyToClipboard
      variant={hidden ? "button" : "inline"}
      copyButtonText={hidden ? s.copy : undefined}
      textToCopy={text}
      copyButtonAriaLabel={`${s.copy}: ${label}`}
      copySuccessText={s.copied}
      copyErrorText={s.copyFailed}
    />
  );
  return command ? <span className="command">{shown}</span> : shown;
}
