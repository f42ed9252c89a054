import type { ReferenceRow } from "../scenario/row.ts";
import { MINIFLARE, proven, test } from "./reference.ts";

const CONCURRENCY = "packages/broker/src/dispatcher.concurrency.test.ts";
const PAUSE = "packages/broker/src/dispatcher.pause.test.ts";
const EXPIRE = "packages/engine/src/expire.test.ts";
const PASS_TIME = "packages/broker/src/pass-time.test.ts";
const DEAD = "packages/broker/src/dead-letter.test.ts";
const CRASH = "packages/broker/test/crash.workerd.test.ts";
const TOPOLOGY = "packages/config/src/topology.test.ts";

/** Delivery where time has to pass, processes have to die or a backlog has to be large. */
export const DELIVERY_REFERENCES: readonly ReferenceRow[] = [
  proven(
    "at-least-once",
    ["4 guarantee"],
    "Every message that was accepted is delivered at least once, whatever becomes of processes in between",
    MINIFLARE.no("messages are in memory and gone with the process or a reload"),
    test(CRASH, "delivers every acknowledged message afterwards"),
    test(
      "apps/soak/src/soak.test.ts",
      // biome-ignore lint/suspicious/noTemplateCurlyInString: as the test's name is written.
      "holds in ${SEEDS} histories, in which everything goes wrong that can",
    ),
  ),
  proven(
    "durable-delays",
    ["4 guarantee"],
    "Delays and attempts outlive the process too",
    MINIFLARE.no("delays are timers of the process"),
    test(CRASH, "keeps delays"),
    test(CRASH, "counts the attempts of deliveries that the crash cut off, up to the dead-letter queue"),
  ),
  proven(
    "one-consumer",
    ["4 one consumer"],
    "A queue has one consumer; a second one is refused",
    MINIFLARE.yes,
    test(TOPOLOGY, "two consumers of one queue are refused"),
  ),
  proven(
    "dead-letters-to-itself",
    ["4 DLQ self"],
    "A queue cannot be its own dead-letter queue",
    MINIFLARE.yes,
    test(TOPOLOGY, "to the queue itself"),
  ),
  proven(
    "absent-consumer",
    ["4 no consumer"],
    "While a consumer's Worker is not running, the backlog waits, uncounted and in order",
    MINIFLARE.no("messages are dropped without a word"),
    test(
      "packages/broker/test/delivery.workerd.test.ts",
      "keeps the backlog while no consumer is running and delivers it in order when it is back",
    ),
  ),
  proven(
    "dead-letter-retention",
    ["4 DLQ without consumer"],
    "Dead letters that nobody consumes wait out their queue's own retention",
    MINIFLARE.no("they are dropped"),
    test(DEAD, "keeps messages for its own retention, counted from their arrival"),
  ),
  proven(
    "dead-letter-delay",
    ["4 DLQ"],
    "The dead-letter queue's own delivery delay applies to what it gets",
    MINIFLARE.differs("that of a producer's binding, if one has any"),
    test(DEAD, "applies its own delivery_delay, and not the delay that the message was sent with"),
  ),
  proven(
    "retention",
    ["0 retention", "4 retention", "4 expired"],
    "A message that is older than the retention period is deleted, delayed or not: 4 days unless the queue is set to 60 s to 14 days",
    MINIFLARE.no("messages do not expire"),
    test(EXPIRE, "expireRetention"),
    test(PASS_TIME, "deletes what is older and says so"),
    test("packages/config/src/sluice-table.test.ts", "%s has a range"),
  ),
  proven(
    "pause",
    ["4 pause"],
    "While its delivery is paused a queue takes messages and delivers none; batches in flight finish, retention goes on",
    MINIFLARE.no("queues cannot be paused"),
    test(PAUSE, "takes what is sent, tells of it and delivers nothing"),
    test(PAUSE, "lets the batches in flight finish: what they retry waits, what they acknowledge is gone"),
    test(PAUSE, "sets its alarm for the end of the retention alone, and retention goes on"),
  ),
  proven(
    "resume",
    ["4 resume"],
    "A queue that is resumed goes on with its backlog",
    MINIFLARE.no("queues cannot be paused"),
    test(PAUSE, "goes on with its backlog at the moment it is resumed"),
  ),
  proven(
    "purge",
    ["4 purge"],
    "A purge deletes everything that is stored, delayed messages too",
    MINIFLARE.no("queues cannot be purged"),
    test(
      "packages/broker/src/purge.test.ts",
      "purges what waits, is delayed and is being delivered, durably",
    ),
  ),
  proven(
    "concurrency-by-load",
    ["4 concurrency", "4 concurrency example"],
    "Concurrency follows the backlog: 100 messages a second in batches of 100 that take 5 s settle near 5 invocations",
    MINIFLARE.no("one batch at a time"),
    test(CONCURRENCY, "settles near 5 when 100 messages a second arrive and a batch of 100 takes 5 s"),
  ),
  proven(
    "concurrency-and-failures",
    ["4 concurrency"],
    "Concurrency shrinks when invocations fail; an explicit retry is no failure",
    MINIFLARE.no("one batch at a time"),
    test(CONCURRENCY, "shrinks to one invocation when they fail, and grows again when they do not"),
    test(CONCURRENCY, "does not take an explicit retry for a failure"),
  ),
  proven(
    "concurrency-limit",
    ["0 max_concurrency", "4 max_concurrency = 1"],
    "Concurrency never exceeds `max_concurrency`",
    MINIFLARE.differs("the setting is ignored"),
    test(CONCURRENCY, "with max_concurrency = %i never runs more, however much waits"),
  ),
  proven(
    "what-counts-as-a-try",
    ["4 what counts"],
    "A try is each delivery that was not acknowledged, and each pull whose lease ended or that was retried",
    MINIFLARE.differs("by push alone"),
    test(EXPIRE, "gives what a puller let lapse back at once, with the attempt counted"),
    test(EXPIRE, "ends the last attempt of a %s lease with death"),
  ),
  proven(
    "queues-per-account",
    ["0 queues per account"],
    "There can be 10,000 queues; one more is refused",
    MINIFLARE.no("no limit"),
    test("packages/broker/src/directory/queues.test.ts", "is refused when there are 10,000"),
  ),
  proven(
    "latest-change-wins",
    ["1.5 latest change"],
    "Of settings by configuration and by command the one that was applied last counts",
    MINIFLARE.no("settings come from the configuration alone"),
    test("packages/broker/src/directory/apply-topology.test.ts", "the most recent change applies"),
  ),
  proven(
    "backlog-full",
    ["0 backlog", "1.6 backlog", "1.9 10251"],
    "A queue whose storage is full refuses sends (production: 25 GB, 10251)",
    MINIFLARE.no("memory grows until the process ends"),
    test(
      "packages/broker/src/storage-full.test.ts",
      "refuses sends of its queue for a while, and then lets one try",
    ),
  ),
];
