import { timesDelivered } from "../ledger/change.ts";
import type { Checker } from "./checker.ts";

/**
 * A queue whose delivery is paused, or whose Worker has to wait for others, delivers nothing: no batch is leased for
 * its consumer.
 */
export const paused: Checker = {
  property: "paused",

  changed(_queue, change, { record }) {
    if (timesDelivered(change) === 0) return undefined;
    if (record.definition.deliveryPaused === true)
      return `message ${change.message.tag} is delivered to the consumer of a paused queue`;
    const earlyMs = record.heldUntilMs - record.atMs;
    return earlyMs > 0
      ? `message ${change.message.tag} is delivered ${earlyMs} ms before its Worker's turn`
      : undefined;
  },
};

/**
 * No second has more deliveries than `maxReceivesPerSecond`, over restarts and changes of that limit too (spec
 * sns-delivery 7).
 */
export const throttle: Checker = {
  property: "throttle",

  committed(_queue, { changes, deliveredInSecond, record }) {
    const { maxReceivesPerSecond } = record.definition;
    // A lower limit holds only for deliveries after the change.
    if (!changes.some((change) => timesDelivered(change) > 0)) return undefined;
    if (maxReceivesPerSecond === undefined || deliveredInSecond <= maxReceivesPerSecond) return undefined;
    return `${deliveredInSecond} messages are delivered in a second that may have ${maxReceivesPerSecond}`;
  },
};

/** A drained worker daemon receives nothing for `DRAIN_MS` (spec sqsd 5, S11). */
export const drained: Checker = {
  property: "drained",

  changed({ drained: drain }, change, { record }) {
    if (drain === null || drain.epoch !== record.epoch || timesDelivered(change) === 0) return undefined;
    if (record.atMs < drain.fromMs || record.atMs >= drain.untilMs) return undefined;
    return `message ${change.message.tag} is received by a worker daemon that is to stop`;
  },
};
