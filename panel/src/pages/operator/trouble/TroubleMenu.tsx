import ButtonDropdown from "@cloudscape-design/components/button-dropdown";
import SpaceBetween from "@cloudscape-design/components/space-between";
import type { Schemas } from "../../../api/client";
import { Failure } from "../../../components/Failure";
import { useTroubleStrings } from "../../../i18n/trouble";
import { useSimulated, useTrouble } from "./useTrouble";

const LINKS = ["next", "internal", "gateway"] as const;

/** What can be broken of a machine; nothing where the hardware is real. */
export function TroubleMenu({ region, machine }: { region: string; machine: string }) {
  const s = useTroubleStrings();
  const { broken } = useTrouble();
  if (!useSimulated(region)) return null;
  const ask = (id: string) => {
    const wanted: Schemas["SimulatedFaultCreate"] = id === "machine" ? { kind: "machine", name: machine } : { kind: "link", name: machine, link: id as (typeof LINKS)[number] };
    broken.mutate(wanted);
  };
  return (
    <SpaceBetween size="xs">
      <ButtonDropdown
        loading={broken.isPending}
        ariaLabel={s.menuOf(machine)}
        items={[{ id: "machine", text: s.breakMachine }, ...LINKS.map((id) => ({ id, text: s.breakLink[id] }))]}
        onItemClick={({ detail }) => ask(detail.id)}
      >
        {s.title}
      </ButtonDropdown>
      <Failure error={broken.error} />
    </SpaceBetween>
  );
}
