import type { PlantedBug } from "../world/planted-bug.ts";

/** Mistakes in the time that queues go by. */
export const CLOCK_BUGS: readonly PlantedBug[] = [
  {
    property: "pace",
    name: "queues go by the machine's clock, wherever it is set",
    clock: "followsTheSystem",
  },
  { property: "pace", name: "a restart forgets where the time stood", clock: "forgetsWhereItStood" },
];
