import { Pace } from "./pace.ts";
import { PutOffTrials } from "./put-off-trials.ts";

/** The pace of the clients of a broker that answers as fast as requests come: how many they are is not to be told. */
export class NearPace extends Pace {
  readonly #trials = new PutOffTrials();

  override arrived(nowMs: number, underWay: number): void {
    super.arrived(nowMs, underWay);
    this.#trials.arrived(nowMs);
  }

  override sent(nowMs: number): void {
    this.#trials.sent(nowMs);
  }

  override answered(tookMs: number, nowMs: number): void {
    super.answered(tookMs, nowMs);
    this.#trials.answered(nowMs);
  }

  override get putOffMs(): number {
    return this.#trials.putOffMs;
  }
}
