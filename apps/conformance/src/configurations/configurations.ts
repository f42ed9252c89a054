import type { ConfigurationRow } from "../scenario/row.ts";

type Judged = "accepted" | "refused";

const consumer = (keys: object) => ({ queues: { consumers: [{ queue: "q", ...keys }] } });

/** A key of a consumer with its range: both ends are accepted, what is beyond is not. */
function range(key: string, min: number, max: number): ConfigurationRow {
  const judged = (value: number): Judged => (value >= min && value <= max ? "accepted" : "refused");
  const values = [min - 1, min, max, max + 1];
  return {
    kind: "configuration",
    id: `range-of-${key.replaceAll("_", "-")}`,
    covers: [`3.1 ${key}`],
    production: `\`${key}\` is from ${min} to ${max.toLocaleString("en")}; others are refused`,
    cases: values.map((value) => [`${value}`, consumer({ [key]: value }), judged(value)]),
  };
}

const named = (queue: string, judged: Judged): ConfigurationRow["cases"][number] => [
  queue === "" ? "(empty)" : queue.length > 20 ? `${queue.length} characters` : queue,
  { queues: { consumers: [{ queue }] } },
  judged,
];

/** What may stand in a configuration. */
export const CONFIGURATIONS: readonly ConfigurationRow[] = [
  range("max_batch_size", 1, 100),
  range("max_batch_timeout", 0, 60),
  range("max_retries", 0, 100),
  range("max_concurrency", 1, 250),
  range("retry_delay", 0, 86_400),
  range("visibility_timeout_ms", 0, 43_200_000),
  {
    kind: "configuration",
    id: "queue-names",
    covers: ["0 queue name", "3.1 queue"],
    production:
      "A queue's name is 1 to 63 of a to z, 0 to 9 and hyphens, and neither begins nor ends with a hyphen; others are refused",
    cases: [
      named("a", "accepted"),
      named("orders-2", "accepted"),
      named("a".repeat(63), "accepted"),
      named("a".repeat(64), "refused"),
      named("", "refused"),
      named("-a", "refused"),
      named("a-", "refused"),
      named("A", "refused"),
      named("my_queue", "refused"),
    ],
  },
  {
    kind: "configuration",
    id: "consumer-keys",
    covers: [
      "3.1 queue",
      "3.1 type",
      "3.1 dead_letter_queue",
      "3.3 wrong type",
      "3.3 consumer without queue",
    ],
    production: "A consumer needs a `queue`; its `type` can be `worker`; `dead_letter_queue` is a string",
    cases: [
      ["no queue", { queues: { consumers: [{}] } }, "refused"],
      ["type worker", consumer({ type: "worker" }), "accepted"],
      ["type pigeon", consumer({ type: "pigeon" }), "refused"],
      ["dead_letter_queue dead", consumer({ dead_letter_queue: "dead" }), "accepted"],
      ["dead_letter_queue 5", consumer({ dead_letter_queue: 5 }), "refused"],
      ["max_concurrency null", consumer({ max_concurrency: null }), "refused"],
    ],
  },
  {
    kind: "configuration",
    id: "http-pull-consumer",
    covers: ["3.1 type"],
    production:
      "A consumer of the `type` `http_pull` can stand in a configuration, as Cloudflare's documentation has it",
    cases: [["type http_pull", consumer({ type: "http_pull" }), "accepted"]],
  },
  {
    kind: "configuration",
    id: "producer-keys",
    covers: [
      "3.1 binding",
      "3.1 producer queue",
      "3.1 remote",
      "3.3 producer without binding",
      "3.3 producer queue",
    ],
    production:
      "A producer needs a `binding`; its `queue` may be left out and not be empty; `remote` changes nothing",
    cases: [
      ["binding and queue", { queues: { producers: [{ binding: "Q", queue: "q" }] } }, "accepted"],
      ["no binding", { queues: { producers: [{ queue: "q" }] } }, "refused"],
      ["empty queue", { queues: { producers: [{ binding: "Q", queue: "" }] } }, "refused"],
      ["remote", { queues: { producers: [{ binding: "Q", queue: "q", remote: true }] } }, "accepted"],
    ],
  },
];
