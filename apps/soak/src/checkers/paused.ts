import { wasLeased } from "../ledger/change.ts";
import type { Checker } from "./checker.ts";

/** A queue whose delivery is paused delivers nothing: no batch is leased for its consumer. */
export const paused: Checker = {
  property: "paused",

  committed(_queue, { changes, record }) {
    if (record.definition.deliveryPaused !== true) return undefined;
    const leased = changes.find(
      (change) => wasLeased(change) && change.after.status === "leased" && change.after.kind !== "pull",
    );
    return leased && `message ${leased.message.tag} is leased for the consumer of a paused queue`;
  },
};
