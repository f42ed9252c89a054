import * as all from "./calls/all-rules.ts";
import type { Method } from "./calls/queue-rpc.ts";
import type { Rules } from "./calls/rule.ts";
import { history, idsNamed, story, watch } from "./look/history-rules.ts";
import { look } from "./look/look-rule.ts";
import { why } from "./look/why-rule.ts";
import { cancelMove, listMoves, startMove } from "./receive/move-rules.ts";
import { cancelReceive, peek, pull, receive } from "./receive/receive-rules.ts";
import { deleteByRefs, makeDue, release, settleLeases } from "./receive/settle-rules.ts";
import { work } from "./receive/work-rule.ts";
import { post } from "./send/post-rule.ts";
import { send } from "./send/send-rules.ts";

/** Rules of the methods that producers call. */
export const PRODUCER_RULES: Rules<"post" | "metrics"> = { post, metrics: all.metrics };

/** The rule of each method of a queue, by the parts of docs/design/shards.md. */
export const QUEUE_RULES: Rules<Method> = {
  // Sending: always to the same shard; of a FIFO queue to the owners of the groups.
  post,
  send,
  // Receiving: from one shard after the other, and by tokens on the shard of each.
  work,
  receive,
  cancelReceive,
  release,
  pull,
  settleLeases,
  peek,
  deleteByRefs,
  makeDue,
  // Looking: sums, lists by time, and the story and the reason of one.
  metrics: all.metrics,
  messageCounts: all.messageCounts,
  describe: all.describe,
  why,
  look,
  history,
  story,
  idsNamed,
  figures: all.figures,
  watch,
  faults: all.faults,
  listMoves,
  // Changing all of them.
  purge: all.purge,
  drain: all.drain,
  setFaults: all.setFaults,
  startMove,
  cancelMove,
};
