import { timesDelivered } from "../ledger/change.ts";
import type { Checker } from "./checker.ts";

/** A worker daemon that was told that it is to stop receives nothing for a while (spec sqsd 5, S11). */
export const drained: Checker = {
  property: "drained",

  committed({ drained: said }, { changes, record }) {
    if (said === null || said.life !== record.life) return undefined;
    if (record.atMs < said.fromMs || record.atMs >= said.untilMs) return undefined;
    const received = changes.find((change) => timesDelivered(change) > 0);
    return received && `message ${received.message.tag} is received by a worker daemon that is to stop`;
  },
};
