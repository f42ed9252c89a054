import type { ReferenceRow, RowHead, TestReference } from "../scenario/row.ts";
import { MINIFLARE, proven, test } from "./reference.ts";

const PULL = "packages/broker/src/pull.test.ts";
const SETTLE = "packages/broker/src/settle-pulled.test.ts";

/** A row about consumers that pull, of which Miniflare has nothing. */
function pulled(
  id: string,
  covers: RowHead["covers"],
  production: string,
  ...tests: readonly TestReference[]
): ReferenceRow {
  return proven(id, covers, production, MINIFLARE.no("no pull consumers"), ...tests);
}

/** What the broker does for consumers that pull. */
export const PULL_REFERENCES: readonly ReferenceRow[] = [
  pulled(
    "short-polling",
    ["5.5 short polling"],
    "A pull from an empty queue answers at once, with no messages",
    test(PULL, "answers an empty queue at once, and one where everything is delayed"),
  ),
  pulled(
    "visibility-timeout",
    ["0 visibility timeout", "5.5 visibility timeout"],
    "A pulled message is invisible for the visibility timeout, 30 s and at most 12 hours; not acknowledged by then, it can be pulled again, one attempt more",
    test(PULL, "leases the first messages, which nobody else gets before their visibility timeout"),
    test(PULL, "gives back what has lapsed though the alarm has not rung yet"),
    test(
      "packages/protocol/src/limits.test.ts",
      "the limits are those of the cheat sheet (spec cloudflare-queues 0)",
    ),
  ),
  pulled(
    "pull-dead-letter",
    ["5.5 visibility timeout", "4 what counts"],
    "Past `max_retries` a lease that ends moves its message to the dead-letter queue",
    test(PULL, "that lapses past max_retries moves its message to the dead-letter queue"),
  ),
  pulled(
    "lease-ids",
    ["5.5 lease_id"],
    "Each delivery of a message has a lease id of its own; it outlives the process",
    test(PULL, "gives every delivery of a message a lease id of its own"),
    test(PULL, "survives a crash, and its lease id does"),
  ),
  pulled(
    "late-ack",
    ["5.5 late ack"],
    "An acknowledgement counts after its lease has ended too, even if somebody else has the message by then",
    test(SETTLE, "that is late counts: the message is visible again"),
    test(SETTLE, "that is late counts: somebody else has leased the message by now"),
  ),
  pulled(
    "pull-retry-delay",
    ["5.5 retry delay", "1.5 retry"],
    "A retry that names no delay waits for the consumer's `retry_delay`",
    test(SETTLE, "without a delay waits for the consumer's retry_delay; 0 overrides that"),
  ),
];
