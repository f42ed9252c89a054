import type { ConsumerSettings } from "@sluice/protocol";
import type { Behaviour } from "../../lab/src/commands.ts";

/** Way in which the messages of a scenario are sent. */
export type Sending =
  | { readonly kind: "batches"; readonly size: number }
  | { readonly kind: "requests"; readonly requests: number }
  | { readonly kind: "trickle"; readonly everyMs: number };

/** Use of a queue whose bill is measured. */
export interface Scenario {
  readonly title: string;
  readonly consumer: Partial<ConsumerSettings>;
  readonly sending: Sending;
  readonly behaviour: Behaviour;
  readonly messages: number;
  /** The same for `--quick`. */
  readonly quickMessages: number;
}

/** Sizes of `sendBatch` and of the consumer's batches that must be cheaper than Cloudflare Queues. */
const BATCH_SIZES = [1, 2, 5, 10, 25, 50, 100];

const IN_HUNDREDS = { maxBatchSize: 100, maxBatchTimeoutSeconds: 1 };
const IN_TENS = { maxBatchSize: 10, maxBatchTimeoutSeconds: 1 };
const BATCHES: Sending = { kind: "batches", size: 100 };
const EVERY_SECOND: Sending = { kind: "trickle", everyMs: 1_000 };
const EVERY_MINUTE: Sending = { kind: "trickle", everyMs: 60_000 };
const DEFAULT_CONSUMER = { maxBatchSize: 10, maxBatchTimeoutSeconds: 5 };
const AT_ONCE = { maxBatchSize: 10, maxBatchTimeoutSeconds: 0 };
const requests = (count: number): Sending => ({ kind: "requests", requests: count });

export const SCENARIOS: readonly Scenario[] = [
  ...BATCH_SIZES.map((size) =>
    scenario(
      `sendBatch(${size}), batches of ${size}, one after the other`,
      { maxBatchSize: size, maxBatchTimeoutSeconds: 1 },
      { kind: "batches", size },
      size * 5_000,
    ),
  ),
  scenario("50 senders, batches of 100", IN_HUNDREDS, requests(50), 20_000),
  scenario("50 senders, batches of 10", IN_TENS, requests(50), 20_000),
  scenario("one sender, batches of 10", IN_TENS, requests(1), 5_000),
  scenario("1 message/s, Cloudflare's default consumer (10 or 5 s)", DEFAULT_CONSUMER, EVERY_SECOND, 100),
  scenario("1 message/s, delivered at once (max_batch_timeout 0)", AT_ONCE, EVERY_SECOND, 100),
  scenario("1 message/min, Cloudflare's default consumer (10 or 5 s)", DEFAULT_CONSUMER, EVERY_MINUTE, 4),
  scenario("1 message/min, delivered at once (max_batch_timeout 0)", AT_ONCE, EVERY_MINUTE, 4),
  scenario("sendBatch(100), every message retried once", IN_HUNDREDS, BATCHES, 20_000, 1),
  scenario("sendBatch(100), 1 of 100 retried once", IN_HUNDREDS, BATCHES, 20_000, 100),
];

/** @param retriedEvery one message of so many is retried once. Default: none. */
function scenario(
  title: string,
  consumer: Partial<ConsumerSettings>,
  sending: Sending,
  messages: number,
  retriedEvery = Infinity,
): Scenario {
  const behaviour: Behaviour =
    retriedEvery === Infinity
      ? { kind: "acknowledge" }
      : { kind: "retryFirst", every: retriedEvery, delaySeconds: 0 };
  const quickMessages = Math.ceil(messages / 10);
  return { title, consumer, sending, behaviour, messages, quickMessages };
}
