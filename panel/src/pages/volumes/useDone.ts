import { useFlash } from "../../app/Flashes";

/** Says that something was begun, and closes its dialog. */
export function useDone(onClose: () => void) {
  const flash = useFlash();
  return (content: string) => {
    flash({ type: "success", content });
    onClose();
  };
}
