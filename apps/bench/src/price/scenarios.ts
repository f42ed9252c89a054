import type { ConsumerSettings } from "@sluice/protocol";
import type { Behaviour } from "../../lab/src/commands.ts";

/** How the messages of a scenario are sent. */
export type Sending =
  | { readonly kind: "batches" }
  | { readonly kind: "requests"; readonly requests: number }
  | { readonly kind: "trickle"; readonly everyMs: number };

/** A use of a queue whose bill is counted. */
export interface Scenario {
  readonly title: string;
  readonly consumer: Partial<ConsumerSettings>;
  readonly sending: Sending;
  readonly behaviour: Behaviour;
  /** Deliveries after the first one, per message. */
  readonly retriesPerMessage: number;
  readonly messages: number;
  /** The same for `--quick`. */
  readonly quickMessages: number;
}

const ACKNOWLEDGE: Behaviour = { kind: "acknowledge" };
const IN_HUNDREDS = { maxBatchSize: 100, maxBatchTimeoutSeconds: 1 };
const IN_TENS = { maxBatchSize: 10, maxBatchTimeoutSeconds: 1 };

export const SCENARIOS: readonly Scenario[] = [
  {
    title: "sendBatch(100), batches of 100",
    consumer: IN_HUNDREDS,
    sending: { kind: "batches" },
    behaviour: ACKNOWLEDGE,
    retriesPerMessage: 0,
    messages: 50_000,
    quickMessages: 5_000,
  },
  {
    title: "50 senders, batches of 100",
    consumer: IN_HUNDREDS,
    sending: { kind: "requests", requests: 50 },
    behaviour: ACKNOWLEDGE,
    retriesPerMessage: 0,
    messages: 20_000,
    quickMessages: 2_000,
  },
  {
    title: "50 senders, batches of 10",
    consumer: IN_TENS,
    sending: { kind: "requests", requests: 50 },
    behaviour: ACKNOWLEDGE,
    retriesPerMessage: 0,
    messages: 20_000,
    quickMessages: 2_000,
  },
  {
    title: "one sender, batches of 10",
    consumer: IN_TENS,
    sending: { kind: "requests", requests: 1 },
    behaviour: ACKNOWLEDGE,
    retriesPerMessage: 0,
    messages: 5_000,
    quickMessages: 500,
  },
  {
    title: "1 message/s, Cloudflare's default consumer (10 or 5 s)",
    consumer: { maxBatchSize: 10, maxBatchTimeoutSeconds: 5 },
    sending: { kind: "trickle", everyMs: 1000 },
    behaviour: ACKNOWLEDGE,
    retriesPerMessage: 0,
    messages: 40,
    quickMessages: 6,
  },
  {
    title: "1 message/s, delivered at once (max_batch_timeout 0)",
    consumer: { maxBatchSize: 10, maxBatchTimeoutSeconds: 0 },
    sending: { kind: "trickle", everyMs: 1000 },
    behaviour: ACKNOWLEDGE,
    retriesPerMessage: 0,
    messages: 40,
    quickMessages: 6,
  },
  {
    title: "sendBatch(100), every message retried once",
    consumer: IN_HUNDREDS,
    sending: { kind: "batches" },
    behaviour: { kind: "retryFirst", every: 1, delaySeconds: 0 },
    retriesPerMessage: 1,
    messages: 20_000,
    quickMessages: 2_000,
  },
  {
    title: "sendBatch(100), 1 of 100 retried once",
    consumer: IN_HUNDREDS,
    sending: { kind: "batches" },
    behaviour: { kind: "retryFirst", every: 100, delaySeconds: 0 },
    retriesPerMessage: 0.01,
    messages: 20_000,
    quickMessages: 2_000,
  },
];
