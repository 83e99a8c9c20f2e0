import { Empty } from "../components/Empty";
import { To } from "../components/To";
import { useStrings } from "../i18n";

export function NotFound() {
  const s = useStrings().common;
  return <Empty page title={s.notFound} text={location.pathname} action={<To href="/">{s.toStart}</To>} />;
}
