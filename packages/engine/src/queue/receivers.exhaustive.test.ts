// @module-tag slow
import { expect, it } from "vitest";
import {
  type Alphabet,
  afterSends,
  type Command,
  explore,
  pass,
  send,
  settle,
  withReceipt,
} from "../../test/histories.ts";
import { RULES } from "../../test/queues.ts";
import type { QueueRules } from "../index.ts";

/*
 * Every small history of receivers, as `queue.exhaustive.test.ts` has them of consumers: receive, delete and change of
 * visibility by the first receipt and the last one, on FIFO queues and on standard ones with groups and without; a
 * puller of the same queue in between.
 */

/**
 * Makes the command that changes the visibility of a received message: a message that a puller holds has no visibility
 * timeout, and no call can name it for one.
 */
function changeVisibility(which: number, forMs: number): Command {
  return (twins) => {
    const held = twins.receipts.at(which);
    if (held?.lease.kind !== "receive") return false;
    twins.changeVisibility(held, forMs);
    return true;
  };
}

const RECEIVERS: Alphabet = {
  "receive 1": afterSends((twins) => twins.receive(1, 1_000)),
  "receive 3": afterSends((twins) => twins.receive(3, 1_000)),
  "receive 1 and leave it visible": afterSends((twins) => twins.receive(1, 0)),
  "delete by the first receipt": withReceipt(0, (twins, held) => twins.deleteReceived(held)),
  "delete by the last receipt": withReceipt(-1, (twins, held) => twins.deleteReceived(held)),
  "end the first receipt": changeVisibility(0, 0),
  "extend the last receipt": changeVisibility(-1, 2_000),
  "1 s passes": pass(1_000),
  "leases expire": afterSends((twins) => twins.expireLeases()),
  restart: afterSends((twins) => twins.restart()),
};

const sendTo = (...groups: string[]) => send(3, ...groups.map((group) => ({ size: 1, delayMs: 0, group })));

const GROUPED: Alphabet = {
  "send a": sendTo("a"),
  "send a, b": sendTo("a", "b"),
  "send a, a": sendTo("a", "a"),
  ...RECEIVERS,
};

/** Delays of the queue and of a message of its own. */
const DELAYED: Alphabet = {
  "send a, as late as the queue says": send(2, { size: 1, delayMs: "queue", group: "a" }),
  "send a, b, as late as the queue says": send(
    2,
    { size: 1, delayMs: "queue", group: "a" },
    { size: 2, delayMs: "queue", group: "b" },
  ),
  "send a, 2 s later": send(2, { size: 1, delayMs: 2_000, group: "a" }),
  "the delay becomes 0": changeDelay(0),
  "the delay becomes 1 s": changeDelay(1_000),
  "the delay becomes 3 s": changeDelay(3_000),
  "receive 1": afterSends((twins) => twins.receive(1, 1_000)),
  "pull 2": afterSends((twins) => twins.pull(2, 2_000)),
  "release the last lease": settle(-1, 0, 2, "release"),
  "retry the last lease later": settle(-1, 0, 2, "retryLater"),
  "delete the second message": (twins) => {
    if (twins.naive.messages.length < 2) return false;
    twins.remove(1);
    return true;
  },
  "delete the first message": (twins) => {
    if (twins.naive.messages.length === 0) return false;
    twins.remove(0);
    return true;
  },
  "1 s passes": pass(1_000),
  "leases expire": afterSends((twins) => twins.expireLeases()),
  restart: afterSends((twins) => twins.restart()),
};

function changeDelay(toMs: number): Command {
  return (twins) => {
    if (twins.queueDelayMs === toMs) return false;
    twins.changeDelay(toMs);
    return true;
  };
}

const plain = (...delaysMs: number[]) => send(2, ...delaysMs.map((delayMs, i) => ({ size: 1 + i, delayMs })));

const PLAIN: Alphabet = {
  "send 1": plain(0),
  "send 2, the second one later": plain(0, 1_000),
  ...RECEIVERS,
  "pull 1": afterSends((twins) => twins.pull(1, 2_000)),
  "retry the last lease later": settle(-1, 0, 3, "retryLater"),
  retention: afterSends((twins) => twins.expireRetention()),
};

it.each<[string, Alphabet, Partial<QueueRules>, string[], number, number]>([
  ["on a FIFO queue", GROUPED, { fifo: true }, [], 5, 10_000],
  ["on a FIFO queue after three of one group", GROUPED, { fifo: true }, ["send a, a", "send a"], 6, 4_000],
  [
    "on a FIFO queue with two receives",
    GROUPED,
    { fifo: true, maxRetries: 1 },
    ["send a, b", "receive 3"],
    6,
    8_000,
  ],
  ["on a standard queue with groups and one receive", GROUPED, { maxRetries: 0 }, ["send a, b"], 5, 1_000],
  ["on a standard queue", PLAIN, {}, [], 5, 10_000],
  ["on a standard queue with one receive", PLAIN, { maxRetries: 0 }, [], 5, 10_000],
  [
    "on a standard queue where one of two is received",
    PLAIN,
    { maxRetries: 1 },
    ["send 1", "receive 1", "send 1"],
    6,
    1_000,
  ],
  ["on a FIFO queue without groups", PLAIN, { fifo: true, maxRetries: 1 }, [], 5, 10_000],
  [
    "on a FIFO queue whose delay changes",
    DELAYED,
    { fifo: true, maxRetries: 1 },
    ["the delay becomes 1 s"],
    6,
    10_000,
  ],
])(
  "every small history of receivers does what a plain list of messages does, %s",
  (_what, alphabet, changes, prefix, lengthMax, histories) => {
    const base = { ...RULES, maxBatchSize: 2, batchTimeoutMs: 1_000, maxRetries: Infinity };
    // Where commands ask for it, the retention ends after what four of them let pass.
    const all = { ...base, retentionMs: alphabet === PLAIN ? 3_000 : 30_000, pushLeaseMs: 1_000, ...changes };
    expect(explore(alphabet, all, prefix, lengthMax)).toBeGreaterThan(histories);
  },
);
