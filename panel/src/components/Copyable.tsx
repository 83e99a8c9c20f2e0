import CopyToClipboard from "@cloudscape-design/components/copy-to-clipboard";
import { useStrings } from "../i18n";

export function Copyable({ text, label }: { text: string; label: string }) {
  const s = useStrings().common;
  return (
    <CopyToClipboard
      variant="inline"
      textToCopy={text}
      copyButtonAriaLabel={`${s.copy}: ${label}`}
      copySuccessText={s.copied}
      copyErrorText={s.copyFailed}
    />
  );
}
