import { expect, it } from "vitest";
import type { HardwareMachine } from "../api/operator";
import { neighbour, racksOf } from "../components/racks/layout";
import { valuesOf } from "../components/racks/modes";

const machine = (rack: number, pod: number, slot: number) =>
  ({ name: `m${rack}-${pod}-${slot}`, rack: `gw${rack}`, pod: `gw${rack}-p${pod}`, slot }) as HardwareMachine;

it("has sixteen racks of four PODs in the order of their numbers, and arrows reach all of it", () => {
  const shuffled = [];
  for (let slot = 15; slot >= 0; slot--) for (let pod = 4; pod > 0; pod--) for (let rack = 16; rack > 0; rack--) shuffled.push(machine(rack, pod, slot));
  const racks = racksOf(shuffled);
  expect(racks.map((each) => each.name).slice(0, 3)).toEqual(["gw1", "gw2", "gw3"]);
  expect(racks.at(-1)).toMatchObject({ name: "gw16", first: 60 });
  const columns = racks.flatMap((each) => each.columns);
  let place = { column: 0, slot: 0 };
  for (let step = 0; step < 100; step++) place = neighbour(columns, neighbour(columns, place, "ArrowRight") ?? place, "ArrowUp") ?? place;
  expect(place).toEqual({ column: 63, slot: 15 });
});

it("moves to the nearest slot where the one beside it is empty", () => {
  const columns = racksOf([machine(1, 1, 0), machine(1, 1, 9), machine(1, 2, 0), machine(1, 2, 7)]).flatMap((each) => each.columns);
  expect(neighbour(columns, { column: 0, slot: 9 }, "ArrowRight")).toEqual({ column: 1, slot: 7 });
  expect(neighbour(columns, { column: 0, slot: 9 }, "Tab")).toBeUndefined();
});

it("shows how large the free block is that a machine is in, as the allocator aligns it", () => {
  const all = Array.from({ length: 16 }, (_, slot) => ({ ...machine(1, 1, slot), state: "free", allocatable: true }) as HardwareMachine);
  const put = (slot: number, state: string, allocatable: boolean) => { all[slot] = { ...all[slot], state, allocatable } as HardwareMachine; };
  put(0, "allocated", false);
  put(5, "unhealthy", false);
  const value = valuesOf("fragmentation", all);
  expect(all.map(value)).toEqual([
    "taken", "block_1", "block_2", "block_2", "block_1", "out", "block_2", "block_2", ...Array.from({ length: 8 }, () => "block_8"),
  ]);
});
