import { timesDelivered } from "../ledger/change.ts";
import type { Checker } from "./checker.ts";

/** No second has more deliveries than `maxReceivesPerSecond`, restarts and changes of it included (spec sns-delivery 7). */
export const throttle: Checker = {
  property: "throttle",

  committed(_queue, { changes, deliveredInSecond, record }) {
    const { maxReceivesPerSecond } = record.definition;
    // A lower limit holds for what comes after it.
    if (!changes.some((change) => timesDelivered(change) > 0)) return undefined;
    if (maxReceivesPerSecond === undefined || deliveredInSecond <= maxReceivesPerSecond) return undefined;
    return `${deliveredInSecond} messages are delivered in a second that may have ${maxReceivesPerSecond}`;
  },
};
