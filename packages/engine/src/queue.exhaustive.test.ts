import { describe, expect, it } from "vitest";
import { RULES } from "../test/queues.ts";
import { Twins } from "../test/twins.ts";
import type { QueueRules } from "./index.ts";

/*
 * Every history of up to five commands over at most two messages (up to six when both were leased at first), on the
 * engine and on the naive queue: what random programs reach once in a million times is reached here for certain.
 */

/** A command; `false` when it can do nothing now, so that no history is gone through twice. */
type Command = (twins: Twins) => boolean;

const MESSAGES_MAX = 2;

const send =
  (...delaysMs: number[]): Command =>
  (twins) => {
    if (twins.naive.sent + delaysMs.length > MESSAGES_MAX) return false;
    twins.send(delaysMs.map((delayMs, i) => ({ size: 1 + i, delayMs })));
    return true;
  };

const settle =
  (which: number, from: number, to: number, verdict: "ack" | "retry" | "retryLater" | "release"): Command =>
  (twins) => {
    const held = twins.leases.at(which);
    if (held === undefined || from >= held.batch.count) return false;
    twins.settle(held, from, to, verdict);
    twins.end(held, verdict === "release" ? "notRun" : verdict === "ack" ? "ok" : "failed");
    return true;
  };

const pass =
  (ms: number): Command =>
  (twins) => {
    twins.nowMs += ms;
    return true;
  };

const whenThereAreMessages =
  (run: (twins: Twins) => void): Command =>
  (twins) => {
    if (twins.naive.sent === 0) return false;
    run(twins);
    return true;
  };

const ALPHABET: Readonly<Record<string, Command>> = {
  "send 1": send(0),
  "send 1, 1 s later": send(1_000),
  "send 2": send(0, 0),
  "send 2, the first one later": send(1_000, 0),
  "pull 1": whenThereAreMessages((twins) => twins.pull(1, 1_000)),
  "pull 2": whenThereAreMessages((twins) => twins.pull(2, 1_000)),
  push: whenThereAreMessages((twins) => twins.push()),
  "ack the first of the last lease": settle(-1, 0, 1, "ack"),
  "ack the second of the last lease": settle(-1, 1, 2, "ack"),
  "ack all of the first lease": settle(0, 0, 2, "ack"),
  "retry the last lease": settle(-1, 0, 2, "retry"),
  "retry the last lease later": settle(-1, 0, 2, "retryLater"),
  "ack the first receipt, late or not": (twins) => {
    const held = twins.receipts.at(0);
    if (held === undefined) return false;
    twins.deleteReceived(held);
    return true;
  },
  "delete the second message": (twins) => {
    if (twins.naive.messages.length < 2) return false;
    twins.remove(1);
    return true;
  },
  "release the last lease": settle(-1, 0, 2, "release"),
  "1 s passes": pass(1_000),
  "leases expire": whenThereAreMessages((twins) => twins.expireLeases()),
  retention: whenThereAreMessages((twins) => twins.expireRetention()),
  restart: whenThereAreMessages((twins) => twins.restart()),
};

/** Runs every history that begins with `prefix`; answers with how many there were. */
function explore(rules: QueueRules, prefix: readonly string[], lengthMax: number): number {
  let histories = 0;
  for (const name of Object.keys(ALPHABET)) {
    const history = [...prefix, name];
    const twins = new Twins(rules);
    try {
      const apt = history.every((step) => {
        const did = ALPHABET[step]?.(twins) === true;
        twins.commit();
        return did;
      });
      if (!apt) continue;
      // Every shorter history was checked before, so only the end is looked at.
      twins.check();
    } catch (error) {
      throw new Error(`${history.join("; ")}: ${error}`, { cause: error });
    }
    histories += 1;
    if (history.length < lengthMax) histories += explore(rules, history, lengthMax);
  }
  return histories;
}

describe("every small history does what a plain list of messages does", () => {
  it.each<[string, Partial<QueueRules>, string[], number, number]>([
    ["with batches of two and a second attempt", { maxRetries: 1 }, [], 5, 30_000],
    ["with batches of one and short times", { maxBatchSize: 1, pushLeaseMs: 1_000 }, [], 5, 30_000],
    ["after two messages were leased", { maxRetries: 1 }, ["send 2", "pull 2"], 6, 10_000],
    [
      "after two with delays were pushed",
      {},
      ["send 2, the first one later", "1 s passes", "push"],
      6,
      1_000,
    ],
  ])("%s", (_what, rules, prefix, lengthMax, histories) => {
    const allRules = { ...RULES, maxBatchSize: 2, batchTimeoutMs: 1_000, retentionMs: 3_000, maxRetries: 0 };
    expect(explore({ ...allRules, ...rules }, prefix, lengthMax)).toBeGreaterThan(histories);
  });
});
