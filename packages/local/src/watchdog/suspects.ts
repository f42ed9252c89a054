import type { LastEnd } from "@sluice/protocol";

/** Workers that begin one after the other, the first of them at once. All others begin with the second. */
export const SUSPECTS_MAX = 5;
/** Ends in a row after which every delivery counts, since nothing has shown whose handler it is. */
export const ROUNDS_MAX = 6;
/**
 * How long a Worker that begins before another has for itself, in ms. A queue is opened within its heartbeat of 5 s,
 * and while a handler computes without a pause nobody else begins anyway.
 */
export const SLOT_MS = 10_000;
/**
 * A runtime that has run for so long, in ms, clears the suspects. Longer than any delivery takes (15 minutes) and all
 * slots, so that a handler which ends the runtime late does not begin anew each time.
 */
export const CLEARED_AFTER_MS = 20 * 60_000;

/** Suspicion that earlier ends of the runtime have left open. Pure data: the host keeps it from one end to the next. */
export interface Suspicion {
  /** Workers that have begun alone since the first of these ends, the first of them first. */
  readonly tried: readonly string[];
}

export const NO_SUSPICION: Suspicion = { tried: [] };

/** An end of the runtime that nobody has planned. */
interface RuntimeEnd {
  /** Workers that had deliveries, each as often as it has queues; `null` if nobody knows. */
  readonly workers: readonly string[] | null;
  /** How long it had run, without the time in which it was silent, in ms. */
  readonly ranMs: number;
}

/** Verdict on an end: whose deliveries count, and the suspicion that is still open. */
export interface Judgement {
  readonly end: LastEnd;
  readonly suspicion: Suspicion;
}

/**
 * Judges an end of a runtime in which Workers share a thread, so that nobody can see which of them hangs or has killed
 * it. Pure: no clock, no I/O.
 *
 * A Worker is blamed if no other had a delivery. It is alone at the beginning of the next runtime: its next attempt
 * cuts off nobody. If several had, nobody is, and they begin one after the other in the next runtime: the first alone.
 * If that ends as well while several have deliveries, another one is first. So a Worker whose handler does it each time
 * is blamed once it is first, after one end for each of them and one more. When all have been first, or after
 * `ROUNDS_MAX` ends, every delivery counts: no message comes back for ever.
 */
export function judge({ tried }: Suspicion, { workers, ranMs }: RuntimeEnd): Judgement {
  const inDelivery = [...new Set(workers)].sort();
  const [worker, ...others] = inDelivery;
  if (worker === undefined) return { end: { kind: "unplanned" }, suspicion: NO_SUSPICION };
  if (others.length === 0)
    return { end: { kind: "blamed", worker, slotMs: SLOT_MS }, suspicion: NO_SUSPICION };
  const triedSince = ranMs >= CLEARED_AFTER_MS ? [] : tried;
  const untried = inDelivery.filter((each) => !triedSince.includes(each));
  const [first] = untried;
  if (first === undefined || triedSince.length >= ROUNDS_MAX) {
    return { end: { kind: "unplanned" }, suspicion: NO_SUSPICION };
  }
  const order = [...untried, ...triedSince.filter((each) => inDelivery.includes(each))];
  return {
    end: { kind: "suspected", order: order.slice(0, SUSPECTS_MAX), slotMs: SLOT_MS },
    suspicion: { tried: [...triedSince, first] },
  };
}

/** Says of the deliveries that an end cuts off which of them count as attempts, and who has to wait then. */
export function consequence(end: LastEnd): string {
  switch (end.kind) {
    case "planned":
      return "None of the deliveries that this end cuts off counts as an attempt.";
    case "unplanned":
      return "The deliveries that this end cuts off count as attempts.";
    case "blamed":
      return (
        `Of the deliveries that this end cuts off those of "${end.worker}" count as attempts, no others. ` +
        `After the start other Workers are delivered to ${end.slotMs / 1_000} s later than this one.`
      );
    case "suspected": {
      const begins = end.order.map((worker, place) =>
        place === 0 ? `"${worker}" at once` : `"${worker}" after ${(place * end.slotMs) / 1_000} s`,
      );
      return (
        "Several Workers had deliveries and cannot be told apart, so none of these counts as an attempt. " +
        `After the start Workers are delivered to one after the other: ${begins.join(", ")}, ` +
        `any others after ${end.slotMs / 1_000} s.`
      );
    }
  }
}
