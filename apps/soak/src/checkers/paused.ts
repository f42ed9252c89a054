import { timesDelivered } from "../ledger/change.ts";
import type { Checker } from "./checker.ts";

/** A queue whose delivery is paused delivers nothing: no batch is leased for its consumer. */
export const paused: Checker = {
  property: "paused",

  committed(_queue, { changes, record }) {
    if (record.definition.deliveryPaused !== true) return undefined;
    const delivered = changes.find((change) => timesDelivered(change) > 0);
    return delivered && `message ${delivered.message.tag} is delivered to the consumer of a paused queue`;
  },
};
