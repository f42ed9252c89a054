import type { FuzzOptions } from "../fuzz.ts";
import type { LocalTarget } from "../local-target.ts";

/** Opens a new broker for a shape. @param vars further variables of the broker. */
export type Open = (vars?: Readonly<Record<string, string>>) => Promise<LocalTarget>;

/** Report of a shape without a failure. */
export interface ShapeReport {
  /** Number of answers by status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Processor time of this thread for the slowest request, in ms; `null` if it was not measured. */
  readonly slowestMs: number | null;
}

/** One kind of hostile requests, with the checks of their answers. */
export interface Shape {
  /** Default number of cases of a round. */
  readonly cases: number;
  /** Runs a round. Throws with the seed and the smallest case that fails. */
  run(open: Open, options: FuzzOptions): Promise<ShapeReport>;
}
