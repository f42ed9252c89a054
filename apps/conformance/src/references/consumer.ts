import type { ReferenceRow } from "../scenario/row.ts";
import { MINIFLARE, proven, test } from "./reference.ts";

const DIFFERENTIAL = "packages/consumer/src/differential.workerd.test.ts";
const CONTROLLER = "packages/consumer/src/queue-controller.workerd.test.ts";
const OVERDUE = "packages/broker/src/dispatcher.overdue.test.ts";

/** The consumer where a scenario could not see enough. */
export const CONSUMER_REFERENCES: readonly ReferenceRow[] = [
  proven(
    "settlement-differential",
    ["2.4 retry then retryAll", "2.8 result"],
    "Whatever a handler calls in whatever order, a batch is reported and settled as by workerd's own dispatch: random handlers are compared",
    MINIFLARE.differs("acknowledgements are forgotten when the handler fails or calls retryAll()"),
    test(DIFFERENTIAL, "reports what workerd's own dispatch reports"),
    test(DIFFERENTIAL, "settles each program of spec 2.3 as its table says: %s"),
  ),
  proven(
    "same-id-twice",
    ["2.4 shared ids"],
    "Messages of a batch that share an id are settled alike",
    MINIFLARE.yes,
    test("packages/protocol/src/settlement.test.ts", "settles messages that share an id alike"),
  ),
  proven(
    "objects-differential",
    ["2.1 MessageBatch", "2.1 Message", "2.8 message", "2.8 body transfer", "2.8 metadata"],
    "Batch, messages and context look and print as workerd's own, also where they are misused",
    MINIFLARE.yes,
    test(CONTROLLER, "a batch and its messages print as workerd's own do"),
  ),
  proven(
    "wall-clock-limit",
    ["0 wall time", "2.5 wall limit"],
    "A handler may run for 15 minutes; then it is ended and what it has not acknowledged is retried",
    MINIFLARE.no("no limit"),
    test(OVERDUE, "a handler that exceeds 15 minutes"),
    test(OVERDUE, "keeps its explicit acknowledgements"),
  ),
  proven(
    "outcomes",
    ["2.5 outcomes"],
    "Every outcome but `ok` is a failure: exceeded CPU time or memory, cancelled, aborted",
    MINIFLARE.yes,
    test("packages/protocol/src/settlement.test.ts", "settlement of outcomes (spec 2.5)"),
  ),
  proven(
    "unreadable-body",
    ["2.5 unreadable v8"],
    "A batch whose bodies cannot be read fails, and goes to the dead-letter queue in the end",
    MINIFLARE.yes,
    test(
      "packages/consumer/src/queue-consumer.workerd.test.ts",
      "a batch that cannot be read is an exception before the handler sees it",
    ),
  ),
  proven(
    "several-processes",
    ["2.8 cross-process"],
    "Producers and consumers can run in processes of their own (locally: several `sluice dev` or `wrangler dev`)",
    MINIFLARE.differs("what is sent while the other process is not there is dropped"),
    test("packages/cli/test/dev.e2e.test.ts", "two sluice dev of different Workers"),
    test(
      "packages/cli/test/build.e2e.test.ts",
      "consumer, producers and broker meet in processes of their own, whichever comes first",
    ),
  ),
  {
    ...proven(
      "service-worker-format",
      ["2.1 service worker"],
      'A Worker in the service worker format can be a consumer: `addEventListener("queue", …)`',
      MINIFLARE.yes,
      test("packages/cli/src/project/main-module.test.ts", "refuses the service worker format"),
    ),
    sluice: { kind: "no", observed: "refused with a message" },
    reason: "such a Worker can export nothing, and an export is what the broker calls",
  },
];
