import { useQuery } from "@tanstack/react-query";
import type { Schemas } from "../../../api/client";
import { breakSimulated, endSimulated, operatorCapacity } from "../../../api/operator";
import { useFlash } from "../../../app/Flashes";
import { useMay } from "../../../app/Project";
import { useChange } from "../../../components/useChange";
import { useTroubleStrings } from "../../../i18n/trouble";

/** Whether the person may break things there: an administrator, and a site that says that it is simulated. */
export function useSimulated(region: string): boolean {
  const may = useMay("platform:write");
  const { data } = useQuery({ ...operatorCapacity(region), enabled: may && region !== "", refetchInterval: false });
  return may && data?.simulated === true;
}

/** Asks a simulated site to break something, or to repair it. */
export function useTrouble(done?: () => void) {
  const s = useTroubleStrings();
  const flash = useFlash();
  const broken = useChange(
    (wanted: Schemas["SimulatedFaultCreate"]) => breakSimulated(wanted),
    (fault) => {
      flash({ type: "info", content: s.asked(fault.kind === "controllers" ? s.ofAll : fault.name) });
      done?.();
    },
    "operator",
  );
  const repaired = useChange(
    (fault: Schemas["SimulatedFault"]) => endSimulated(fault.id),
    (fault) => flash({ type: "info", content: s.ending(fault.kind === "controllers" ? s.ofAll : fault.name) }),
    "operator",
  );
  return { broken, repaired };
}
