import type { ReferenceRow, RowHead, TestReference } from "../scenario/row.ts";
import { MINIFLARE, proven, test } from "./reference.ts";

const PULL = "packages/broker/src/pull.test.ts";
const PUSH_ROUTES = "packages/gateway/src/cloudflare/data/push-routes.test.ts";
const PULL_ROUTES = "packages/gateway/src/cloudflare/data/pull-routes.test.ts";
const PEEK_ROUTES = "packages/gateway/src/cloudflare/data/peek-routes.test.ts";
const ROUTES = "packages/gateway/src/cloudflare/data/routes.test.ts";
const SETTLE = "packages/broker/src/settle-pulled.test.ts";

/** A row about messages over HTTP, of which Miniflare has nothing. */
function pulled(
  id: string,
  covers: RowHead["covers"],
  production: string,
  ...tests: readonly TestReference[]
): ReferenceRow {
  return proven(id, covers, production, MINIFLARE.no("nothing over HTTP"), ...tests);
}

/** Messages over HTTP: producers that push, consumers that pull. */
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
  pulled(
    "push-over-http",
    ["5.2 push", "5.2 push batch", "6.7 messages"],
    "`POST …/messages` and `…/messages/batch` store messages, JSON unless they say text, and answer with the backlog",
    test(PUSH_ROUTES, "stores JSON unless it says text, under a new id, and answers with the backlog"),
    test(PUSH_ROUTES, "of a batch keeps its order, and the batch's delay beside the messages' own"),
  ),
  pulled(
    "push-over-http-refused",
    ["1.9 10207", "1.9 10208", "5.6 bad JSON", "5.6 overload", "6.8 10207"],
    "What cannot be stored is refused: 10207 and 10208 for its JSON, 10202 to 10206 for delays and sizes, 10250 and 10251 with status 429",
    test(PUSH_ROUTES, "refuses %s"),
    test(PUSH_ROUTES, "passes a refusal with code %i on with status %i"),
  ),
  pulled(
    "pull-over-http",
    ["0 pull batch", "5.2 pull", "5.4 text", "5.4 json", "5.4 bytes", "5.4 v8", "1.2 v8 pulled"],
    "`POST …/messages/pull` leases up to 100 messages and shows text as it is, everything else in base64, with its content type",
    test(
      PULL_ROUTES,
      "shows text as it is and everything else in base64, with attempts, lease ids and the backlog",
    ),
    test(PULL_ROUTES, "and a peek of %d messages are answered with %i"),
    test(PULL, "goes by the consumer's batch size and visibility timeout unless it names its own"),
  ),
  pulled(
    "pull-over-http-refused",
    ["5.6 paused"],
    "A pull from a paused queue is 409 `queue_delivery_paused`; from one without a pull consumer, 405",
    test(PULL_ROUTES, "that is refused as %s is answered with %i"),
  ),
  pulled(
    "ack-over-http",
    ["5.2 ack"],
    "`POST …/messages/ack` acknowledges and retries by lease ids, and warns of those it does not know",
    test(PULL_ROUTES, "settles by lease ids, and warns by them"),
    test(SETTLE, "of anything else is named in the warnings, and the rest is settled"),
  ),
  pulled(
    "peek-and-delete-over-http",
    ["5.2 peek", "5.2 purge refs"],
    "`POST …/messages/peek` shows messages without leasing them, `…/messages/purge` deletes by what it names them",
    test(PEEK_ROUTES, "shows them with a ref to each"),
    test(PEEK_ROUTES, "deletes by refs"),
  ),
  pulled(
    "messages-of-no-queue",
    ["1.9 10107", "5.6 unknown queue"],
    "What is no queue id is 400, 10107; a queue that does not exist 404, 10104",
    test(ROUTES, "to messages%s needs the id of a queue that exists"),
  ),
  pulled(
    "push-without-token",
    ["1.9 10106"],
    "Without a token that is allowed to, nothing can be pushed (production: 10106 or 10000)",
    test(
      "apps/broker/test/cloudflare-sdk.workerd.test.ts",
      "lets nobody in without one of the tokens, where there are tokens",
    ),
  ),
];
