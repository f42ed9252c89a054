import type { LastEnd } from "@sluice/protocol";

/** Most Workers that begin one after the other, the first of them at once. All others begin with the second. */
export const SUSPECTS_MAX = 5;
/** Ends in a row after which every delivery counts, since they have not shown which handler is at fault. */
export const ROUNDS_MAX = 6;
/**
 * How long a Worker runs before the next one begins, in ms. A queue is opened within its heartbeat of 5 s, and while a
 * handler computes without a pause no other begins anyway.
 */
export const SLOT_MS = 10_000;
/**
 * Time after which a running runtime clears the suspicion, in ms. It is longer than a delivery (15 minutes) and all
 * slots, so that a handler that ends the runtime late stays suspected.
 */
export const CLEARED_AFTER_MS = 20 * 60_000;

/** Suspicion that earlier ends of the runtime have left. Plain data: the caller keeps it from one end to the next. */
export interface Suspicion {
  /** Workers that have begun alone since the first of these ends, in their order. */
  readonly tried: readonly string[];
}

export const NO_SUSPICION: Suspicion = { tried: [] };

/** An unplanned end of the runtime. */
interface RuntimeEnd {
  /** Workers that had deliveries, once for each queue; `null` if that is not known. */
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
 * Judges an end of a runtime whose Workers share a thread, so that it cannot be seen which of them hangs or has killed
 * it. Pure: no clock, no I/O.
 *
 * If only one Worker had a delivery, it is blamed, and begins alone in the next runtime, where its next attempt cuts
 * off no other. If several had, none is blamed, and they begin one after the other in the next runtime, the first
 * alone. If that runtime ends, too, while several have deliveries, another Worker is the first. So a Worker whose
 * handler ends the runtime each time is blamed once it is first, after at most one end for each Worker and one more.
 * When all have been first, or after `ROUNDS_MAX` ends, every delivery counts, so that no message comes back for ever.
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

/** Returns the text that says which of the cut-off deliveries count as attempts, and which Workers begin later. */
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
