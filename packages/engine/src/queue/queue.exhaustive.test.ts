import { expect, it } from "vitest";
import { type Alphabet, afterSends, explore, pass, send, settle, withReceipt } from "../../test/histories.ts";
import { RULES } from "../../test/queues.ts";
import type { QueueRules } from "../index.ts";

/*
 * Every history of up to five commands over at most two messages (up to six when both were leased at first), on the
 * engine and on the naive queue: what random programs reach once in a million times is reached here for certain. These
 * are consumers and pullers; `receivers.exhaustive.test.ts` has the receivers of SQS.
 */

const MESSAGES_MAX = 2;

const sendAfter = (...delaysMs: number[]) =>
  send(MESSAGES_MAX, ...delaysMs.map((delayMs, i) => ({ size: 1 + i, delayMs })));

const ALPHABET: Alphabet = {
  "send 1": sendAfter(0),
  "send 1, 1 s later": sendAfter(1_000),
  "send 2": sendAfter(0, 0),
  "send 2, the first one later": sendAfter(1_000, 0),
  "pull 1": afterSends((twins) => twins.pull(1, 1_000)),
  "pull 2": afterSends((twins) => twins.pull(2, 1_000)),
  push: afterSends((twins) => twins.push()),
  "ack the first of the last lease": settle(-1, 0, 1, "ack"),
  "ack the second of the last lease": settle(-1, 1, 2, "ack"),
  "ack all of the first lease": settle(0, 0, 2, "ack"),
  "retry the last lease": settle(-1, 0, 2, "retry"),
  "retry the last lease later": settle(-1, 0, 2, "retryLater"),
  "give the first of the last lease up": settle(-1, 0, 1, "giveUp"),
  "ack the first receipt, late or not": withReceipt(0, (twins, held) => twins.deleteReceived(held)),
  "delete the second message": (twins) => {
    if (twins.naive.messages.length < 2) return false;
    twins.remove(1);
    return true;
  },
  "release the last lease": settle(-1, 0, 2, "release"),
  "1 s passes": pass(1_000),
  "leases expire": afterSends((twins) => twins.expireLeases()),
  retention: afterSends((twins) => twins.expireRetention()),
  purge: afterSends((twins) => twins.purge()),
  restart: afterSends((twins) => twins.restart()),
};

it.each<[string, Partial<QueueRules>, string[], number, number]>([
  ["with batches of two and a second attempt", { maxRetries: 1 }, [], 5, 30_000],
  ["with batches of one and short times", { maxBatchSize: 1, pushLeaseMs: 1_000 }, [], 5, 30_000],
  ["after two messages were leased", { maxRetries: 1 }, ["send 2", "pull 2"], 6, 10_000],
  ["after two with delays were pushed", {}, ["send 2, the first one later", "1 s passes", "push"], 6, 1_000],
])(
  "every small history does what a plain list of messages does, %s",
  (_what, rules, prefix, lengthMax, histories) => {
    const allRules = { ...RULES, maxBatchSize: 2, batchTimeoutMs: 1_000, retentionMs: 3_000, maxRetries: 0 };
    const all = { ...allRules, ...rules };
    expect(explore(ALPHABET, all, prefix, lengthMax)).toBeGreaterThan(histories);
  },
);
