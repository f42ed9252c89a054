import { describe, expect, it } from "vitest";
import { type Cut, isComplete, violationsAfter } from "./judge-cut.ts";
import type { Findings, FoundMessage } from "./look.ts";
import { bodyOf, type Operation, PowerLedger } from "./power-ledger.ts";

const DEAD = { from: "few", to: "dead" };
const NOW = 1_000_000;
/** Cut by which all answers but those of `late` had left, and all requests but those after it had been sent. */
const cut: Cut = { atMs: NOW, answers: new Set(["1:1:1"]), mayEndBePlanned: false };

const answered = (agoMs = 1_000): Operation => ({
  begunMs: NOW - agoMs,
  answer: "1:1:1",
  answeredMs: NOW - agoMs + 1,
});
const begun = (): Operation => ({ begunMs: NOW - 10, answer: "1:1:2", answeredMs: NOW + 10 });
const later = (): Operation => ({ begunMs: NOW + 1_000, answer: "1:1:3", answeredMs: NOW + 1_001 });

function ledgerWith(queue: string, sent: Operation, group: string | null = null) {
  const ledger = new PowerLedger();
  return { ledger, message: ledger.message(queue, group, sent) };
}

const found = (tag: number, queue = "plain", receives = 1): FoundMessage => ({
  queue,
  body: bodyOf(tag, 20),
  receives,
});
const findings = (more: Partial<Findings> = {}): Findings => ({
  damage: [],
  visible: [],
  messages: [],
  queues: new Map(),
  topics: new Map(),
  isEndPlanned: false,
  ...more,
});
const judged = (ledger: PowerLedger, more: Partial<Findings> = {}, at = cut) =>
  violationsAfter(ledger, at, findings(more), DEAD);

describe("a message", () => {
  it("has to be there once its send was answered, until somebody asks for its deletion", () => {
    const { ledger, message } = ledgerWith("plain", answered());
    expect(judged(ledger, { messages: [found(0)] })).toEqual([]);
    expect(judged(ledger)).toEqual(["message 0 of plain: its send was answered, and it is lost"]);
    expect(isComplete(ledger, cut, [])).toBe(false);
    expect(isComplete(ledger, cut, [found(0)])).toBe(true);
    message.deletes.push(later());
    expect(judged(ledger)).toHaveLength(1);
    message.deletes.push(begun());
    expect(judged(ledger)).toEqual([]);
    expect(isComplete(ledger, cut, [])).toBe(true);
    expect(judged(ledger, { messages: [found(0)] })).toEqual([]);
  });

  it("does not come again once its deletion was answered", () => {
    const { ledger, message } = ledgerWith("plain", answered());
    message.deletes.push(answered());
    expect(judged(ledger)).toEqual([]);
    expect(judged(ledger, { messages: [found(0)] })).toEqual([
      "message 0 of plain: its deletion was answered, and it came again",
    ]);
  });

  it("whose send was not answered may be there or not", () => {
    const { ledger } = ledgerWith("plain", begun());
    expect(judged(ledger)).toEqual([]);
    expect(judged(ledger, { messages: [found(0)] })).toEqual([]);
  });

  it("is not there before it was sent, nor twice, nor with another body, nor in another queue", () => {
    expect(judged(ledgerWith("plain", later()).ledger, { messages: [found(0)] })).toHaveLength(1);
    const { ledger } = ledgerWith("plain", answered());
    expect(judged(ledger, { messages: [found(0), found(0)] })).toEqual([
      "message 0 of plain: it is there 2 times",
    ]);
    expect(
      judged(ledger, { messages: [found(0), { queue: "plain", body: "0:other", receives: 1 }] }),
    ).toEqual(["a message has a body that nobody sent"]);
    expect(judged(ledger, { messages: [found(0, "dead")] })).toEqual(["message 0 of plain: it is in dead"]);
    expect(judged(ledgerWith("few", answered()).ledger, { messages: [found(0, "dead")] })).toEqual([]);
  });

  it("stays with its receiver until it is given back, and counts each receive", () => {
    const { ledger, message } = ledgerWith("plain", answered());
    const receive = answered(500);
    message.receives.push(receive);
    const messages = [found(0, "plain", 2)];
    expect(judged(ledger, { messages })).toEqual([]);
    expect(judged(ledger, { messages, visible: [found(0)] })).toEqual([
      "message 0 of plain: a receiver had it, and somebody else gets it",
    ]);
    expect(judged(ledger, { messages: [found(0)] })).toEqual([
      "message 0 of plain: it comes for the 1. time, after 1 answered receives",
    ]);
    message.releases.push(begun());
    expect(judged(ledger, { messages, visible: [found(0)] })).toEqual([]);
    message.receives.push({ ...begun(), begunMs: NOW });
    expect(judged(ledger, { messages, visible: [found(0)] })).toEqual([]);
  });

  it("does not come before one of its group that was stored when it was sent", () => {
    const { ledger } = ledgerWith("ordered.fifo", answered(900), "g1");
    ledger.message("ordered.fifo", "g1", answered(500));
    ledger.message("ordered.fifo", "g2", answered(400));
    const inOrder = (...tags: number[]) => ({ messages: tags.map((tag) => found(tag, "ordered.fifo")) });
    expect(judged(ledger, inOrder(0, 1, 2))).toEqual([]);
    expect(judged(ledger, inOrder(2, 0, 1))).toEqual([]);
    expect(judged(ledger, inOrder(1, 0, 2))).toEqual(["group g1: message 1 comes before 0"]);
  });
});

describe("a queue", () => {
  function ledgerOf(created: Operation) {
    const ledger = new PowerLedger();
    const queue = { name: "q", created, deletes: [], retentions: [], pauses: [] } as const;
    ledger.queues.set("q", {
      ...queue,
      retentions: [{ value: "1", operation: created }],
      pauses: [],
      deletes: [],
    });
    return { ledger, queue: ledger.queues.get("q") };
  }
  const queues = (retention = "1", isPaused = false) => ({
    queues: new Map([["q", { retention, isPaused }]]),
  });

  it("is there once its creation was answered, until it is to be deleted, and never after that", () => {
    const { ledger, queue } = ledgerOf(answered());
    expect(judged(ledger, queues())).toEqual([]);
    expect(judged(ledger)).toEqual(["queue q is lost"]);
    queue?.deletes.push(begun());
    expect(judged(ledger)).toEqual([]);
    const dropped = { damage: ['Queue "q" was deleted; what it held is dropped'] };
    expect(judged(ledger, dropped)).toEqual([]);
    queue?.deletes.push(answered());
    expect(judged(ledger, queues())).toEqual(["queue q was deleted, and is there"]);
    expect(judged(ledgerOf(later()).ledger, queues())).toEqual(["queue q is there before it was created"]);
    expect(judged(new PowerLedger(), queues())).toEqual(["nobody created queue q"]);
    expect(judged(ledgerOf(answered()).ledger, { ...queues(), ...dropped })).toHaveLength(1);
  });

  it("has the settings of the last answer, or of a request after it", () => {
    const { ledger, queue } = ledgerOf(answered());
    queue?.retentions.push({ value: "2", operation: answered() }, { value: "3", operation: begun() });
    queue?.pauses.push({ value: true, operation: answered() });
    expect(judged(ledger, queues("2", true))).toEqual([]);
    expect(judged(ledger, queues("3", true))).toEqual([]);
    expect(judged(ledger, queues("1", true))).toEqual([
      "queue q has a retention period of 1 s, which is not the last",
    ]);
    expect(judged(ledger, queues("2", false))).toEqual(["queue q is paused or not, against the last answer"]);
  });
});

it("a topic and its subscription are there once they were answered", () => {
  const ledger = new PowerLedger();
  ledger.topics.set("news", { created: answered(), subscribed: answered() });
  expect(judged(ledger, { topics: new Map([["news", 1]]) })).toEqual([]);
  expect(judged(ledger, { topics: new Map([["news", 0]]) })).toEqual([
    "the subscription of topic news is lost",
  ]);
  expect(judged(ledger)).toEqual(["topic news is lost", "the subscription of topic news is lost"]);
});

it("damage is never right, nor an announced end that is not the last one", () => {
  expect(judged(new PowerLedger(), { damage: ["x"] })).toEqual(["damage: x"]);
  expect(judged(new PowerLedger(), { isEndPlanned: true })).toHaveLength(1);
  expect(judged(new PowerLedger(), { isEndPlanned: true }, { ...cut, mayEndBePlanned: true })).toEqual([]);
});
