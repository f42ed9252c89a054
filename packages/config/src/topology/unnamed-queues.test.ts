import { join } from "node:path";
import { expect, test } from "vitest";
import { project } from "../../test/project.ts";
import { formatDiagnostic, readWorkerConfig, unnamedQueues } from "../index.ts";

const PRODUCER = '[[queues.producers]]\nbinding = "ORDERS"\nqueue = "orders"\n';
const CONSUMER = '[[queues.consumers]]\nqueue = "orders"\n';
const TYPED_WRONG = "[sluice.queues.order]\nshards = 2\n";

/** Returns the warnings about a Worker beside others, each with its text. */
function warningsOf(text: string, ...others: string[]) {
  const texts = [text, ...others];
  const folder = project(
    Object.fromEntries(texts.map((toml, i) => [`${i}/wrangler.toml`, `name = "w${i}"\n${toml}`])),
  );
  const [own, ...rest] = texts.map((_, i) => readWorkerConfig(join(folder, `${i}/wrangler.toml`)));
  if (own === undefined) throw new Error("unreachable");
  return unnamedQueues([own, own], [own, ...rest]).map((one) =>
    formatDiagnostic(one).replace(`${folder}/`, ""),
  );
}

const WARNING = 'warning: No Worker names the queue "order". Did you mean "orders"?';

test.each([
  ["a producer", PRODUCER],
  ["a consumer", CONSUMER],
  ["a dead-letter queue", '[[queues.consumers]]\nqueue = "mails"\ndead_letter_queue = "orders"\n'],
  [
    "a dead-letter queue of SQS",
    '[sluice.queues.mails]\nredrive = { dead_letter_queue = "orders", max_receive_count = 3 }\n',
  ],
  [
    "a rule of R2",
    '[[sluice.r2_notifications]]\nbucket = "uploads"\nqueue = "orders"\nevent_types = ["object-create"]\n',
  ],
])("a setting of a queue that nothing names is told once where one with a similar name is %s", (_, named) => {
  expect(warningsOf(TYPED_WRONG + named)).toEqual([`0/wrangler.toml:2: ${WARNING}`]);
  expect(warningsOf(TYPED_WRONG, named)).toEqual([`0/wrangler.toml:2: ${WARNING}`]);
  expect(warningsOf(named.replaceAll("orders", "order") + TYPED_WRONG, CONSUMER)).toEqual([]);
});

test("a setting of a queue for other clients alone is taken without a word, and so is one of another Worker's", () => {
  expect(warningsOf(`${PRODUCER}[sluice.queues.payments]\nshards = 2\n`)).toEqual([]);
  expect(warningsOf(`${TYPED_WRONG}[sluice.queues.orders]\nshards = 2\n`)).toEqual([]);
  expect(warningsOf(PRODUCER, TYPED_WRONG)).toEqual([]);
});

test("a queue that has a dead-letter queue was not meant to be one", () => {
  const redriven = (name: string) =>
    `[sluice.queues.${name}]\nredrive = { dead_letter_queue = "${name}-d", max_receive_count = 3 }\n`;
  expect(warningsOf(`${redriven("jobs")}[sluice.queues.jobs-d]\n`)).toEqual([]);
  expect(warningsOf(redriven("mail") + redriven("mails"))).toEqual([]);
  expect(warningsOf(`${CONSUMER.replace("orders", "jobs-d")}${redriven("jobs")}`)).toEqual([]);
  expect(warningsOf(redriven("order") + PRODUCER)).toEqual([`0/wrangler.toml:2: ${WARNING}`]);
});
