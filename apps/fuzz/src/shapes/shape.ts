import type { FuzzOptions } from "../fuzz.ts";
import type { LocalTarget } from "../local-target.ts";

/** Opens a broker of its own for a shape. */
export type Open = (vars?: Readonly<Record<string, string>>) => Promise<LocalTarget>;

/** Outcome of a shape that showed nothing wrong. */
export interface ShapeReport {
  /** Answers by their status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Most processor time of this thread that one request took, in ms; `null` where it was not measured. */
  readonly slowestMs: number | null;
}

/** Requests of one kind that no client should send, and what has to hold for each of them. */
export interface Shape {
  /** Cases of a round, unless an option says otherwise. */
  readonly cases: number;
  /** Throws with the seed and the smallest case that shows what is wrong. */
  run(open: Open, options: FuzzOptions): Promise<ShapeReport>;
}
