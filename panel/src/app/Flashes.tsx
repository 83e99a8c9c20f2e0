import Flashbar, { type FlashbarProps } from "@cloudscape-design/components/flashbar";
import { createContext, use, useMemo, useState, type ReactNode } from "react";
import { useStrings } from "../i18n";

type Flash = { type: "success" | "error" | "info"; content: ReactNode };

const Show = createContext<(flash: Flash) => void>(() => {});
const Shown = createContext<FlashbarProps.MessageDefinition[]>([]);

export const useFlash = () => use(Show);

/** Messages about what was done, above every page. */
export function Flashes({ children }: { children: ReactNode }) {
  const [items, setItems] = useState<(Flash & { id: string })[]>([]);
  const show = useMemo(() => {
    let next = 0;
    // What went well makes way for the next message; an error stays until it is dismissed, or others come.
    return (flash: Flash) => setItems((now) => [...now.filter((each) => each.type === "error").slice(-2), { ...flash, id: String(next++) }]);
  }, []);
  const dismiss = (id: string) => setItems((now) => now.filter((each) => each.id !== id));
  const messages = items.map((each) => ({ ...each, dismissible: true, onDismiss: () => dismiss(each.id) }));
  return (
    <Show value={show}>
      <Shown value={messages}>{children}</Shown>
    </Show>
  );
}

export function Notifications() {
  const { close } = useStrings().common;
  return <Flashbar items={use(Shown).map((each) => ({ ...each, dismissLabel: close }))} />;
}
