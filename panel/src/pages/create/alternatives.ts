import type { Schemas } from "../../api/client";

type Flavor = Schemas["Flavor"];
type Room = { region: string; flavors: Flavor[]; capacity: Schemas["Capacity"][] };
export type Alternative = { region: string; flavor: Flavor };

const MOST = 3;

/** What fits now in place of a flavor in a region, for the room there is and the quota that is left: other sizes of the same
 *  machines in the region, the nearest first, and the same flavor in other regions. */
export function alternatives(wanted: { region: string; flavor: string }, rooms: Room[], quotas: Schemas["Quota"][]) {
  const fits = (room: Room, flavor: Flavor) => {
    const quota = quotas.find((each) => each.region === room.region && each.machine_type === flavor.machine_type);
    const left = (quota?.limit ?? 0) - (quota?.used ?? 0);
    return left >= flavor.machines && (room.capacity.find((each) => each.flavor === flavor.name)?.available ?? 0) > 0;
  };
  const fitting: Alternative[] = rooms.flatMap((room) => room.flavors.filter((each) => fits(room, each)).map((flavor) => ({ region: room.region, flavor })));
  const asked = rooms.find((each) => each.region === wanted.region)?.flavors.find((each) => each.name === wanted.flavor);
  const apart = ({ flavor }: Alternative) => Math.abs(Math.log2(flavor.ipus / (asked?.ipus ?? flavor.ipus)));
  return {
    sizes: fitting
      .filter((each) => each.region === wanted.region && each.flavor.name !== wanted.flavor && each.flavor.machine_type === asked?.machine_type)
      .sort((one, other) => apart(one) - apart(other))
      .slice(0, MOST),
    regions: fitting.filter((each) => each.region !== wanted.region && each.flavor.name === wanted.flavor).slice(0, MOST),
  };
}
