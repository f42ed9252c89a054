import {
  type DeleteOutcome,
  type EnqueueReply,
  type EnqueueRequest,
  type ReceiveNowReply,
  type ReceiveRequest,
  unpackMessages,
  type VisibilityOutcome,
} from "@sluice/protocol";
import { expect, it, vi } from "vitest";
import { queueWith } from "../../../test/directory.ts";
import { QueueCalls } from "./queue-calls.ts";

const BY = () => {};
const messages = (...digits: number[]) => ({
  records: digits.map((digit) => ({
    id: crypto.randomUUID(),
    contentType: "text" as const,
    body: `${digit}`,
  })),
  revision: 3,
});
/** The digits that were sent. */
const digitsIn = (packed: Uint8Array) =>
  unpackMessages(packed).map(({ body }) => Number(new TextDecoder().decode(body)));
const sent = (digit: number) => ({
  messageId: `${digit}`.repeat(32),
  sequenceNumber: null,
  duplicate: false,
});

/** Calls on an object, each answered in the next turn of the event loop: those of one turn are shared. */
function callsOn(able: Parameters<typeof queueWith>[0], isLocal = false) {
  const seen: unknown[] = [];
  const later = async <Result>(what: unknown, answer: () => Result): Promise<Result> => {
    seen.push(what);
    await new Promise((resolve) => setImmediate(resolve));
    return answer();
  };
  return {
    seen,
    later,
    calls: new QueueCalls(
      () => queueWith(able),
      () => 0,
      isLocal,
    ),
  };
}

it("sends that share a call are stored together, and each learns of its own messages", async () => {
  const { seen, later, calls } = callsOn({
    enqueue: (_, { packed, revision }: EnqueueRequest) =>
      later(
        [...digitsIn(packed), revision],
        (): EnqueueReply => ({ ok: true, messages: digitsIn(packed).map(sent) }),
      ),
  });
  const all = [messages(1), messages(2), messages(3, 4), messages(5)].map((each) =>
    calls.enqueue("q", each, BY),
  );
  const replies = await Promise.all(all);
  expect(seen).toEqual([
    [1, 3],
    [2, 3, 4, 5, 3],
  ]);
  expect(replies.map((reply) => reply.ok === true && reply.messages)).toEqual(
    [[1], [2], [3, 4], [5]].map((digits) => digits.map(sent)),
  );
});

it("sends that share a call go by the oldest revision of them, so that no messages are stored by outdated checks", async () => {
  const { seen, later, calls } = callsOn({
    enqueue: (_, { revision }: EnqueueRequest) => later(revision, (): EnqueueReply => ({ ok: "outdated" })),
  });
  const revisions = [7, 7, 7, 5, 6].map((revision) => calls.enqueue("q", { ...messages(1), revision }, BY));
  expect(await Promise.all(revisions)).toEqual(Array(5).fill({ ok: "outdated" }));
  expect(seen).toEqual([7, 5]);
});

it("sends that share a call go alone when they are refused, so that none is refused for the messages of another", async () => {
  const { later, calls } = callsOn({
    enqueue: (_, { packed }: EnqueueRequest) =>
      later(
        null,
        (): EnqueueReply =>
          digitsIn(packed).includes(9)
            ? { ok: false, code: 10204, cause: "too large" }
            : { ok: true, messages: digitsIn(packed).map(sent) },
      ),
  });
  const all = [1, 2, 3, 9, 4].map((byte) => calls.enqueue("q", messages(byte), BY));
  expect((await Promise.all(all)).map(({ ok }) => ok)).toEqual([true, true, true, false, true]);
});

it("deletes and changes of visibility that share a call each get their own outcomes", async () => {
  const { seen, later, calls } = callsOn({
    deleteBatch: (_, receipts) =>
      later(receipts, () => receipts.map((receipt) => (receipt === "bad" ? "invalid" : "deleted"))),
    changeVisibilityBatch: (_, changes) =>
      later(changes.length, () => changes.map(({ receipt }) => (receipt === "bad" ? "gone" : "changed"))),
  });
  const deletes = [["a"], ["b"], ["c", "bad"], ["d"]].map((receipts) => calls.deleteBatch("q", receipts, BY));
  expect(await Promise.all(deletes)).toEqual([["deleted"], ["deleted"], ["deleted", "invalid"], ["deleted"]]);
  expect(seen.splice(0)).toEqual([["a"], ["b", "c", "bad", "d"]]);
  const changes = ["a", "b", "bad", "d"].map((receipt) =>
    calls.changeVisibilityBatch("q", [{ receipt, visibilityTimeoutMs: 0 }], BY),
  );
  expect(await Promise.all(changes)).toEqual([["changed"], ["changed"], ["gone"], ["changed"]]);
  expect(seen).toEqual([1, 3]);
});

it("receives share a call, queues do not", async () => {
  const { seen, later, calls } = callsOn({
    receiveNow: (queue, requests: readonly ReceiveRequest[]) =>
      later([queue, requests.length], () => requests.map((): ReceiveNowReply => ({ kind: "empty" }))),
  });
  const queues = ["a", "a", "a", "a", "b"];
  const replies = await Promise.all(queues.map((name) => calls.receiveNow(name, { max: 1 }, BY)));
  expect(replies).toEqual(Array(5).fill({ kind: "empty" }));
  expect(seen).toEqual([
    ["a", 1],
    ["b", 1],
    ["a", 3],
  ]);
});

it("whatever requests want of a queue while a call to it is under way goes in one call", async () => {
  const { seen, later, calls } = callsOn({
    work: (queue, { enqueue, receive, remove, change }) =>
      later([queue, enqueue && digitsIn(enqueue.packed), receive?.length, remove, change?.length], () => ({
        ok: true as const,
        ...(enqueue && { enqueued: { ok: true as const, messages: null } }),
        ...(receive && { received: receive.map(() => ({ kind: "empty" as const })) }),
        ...(remove && { removed: remove.map((): DeleteOutcome => "deleted") }),
        ...(change && { changed: change.map((): VisibilityOutcome => "changed") }),
      })),
  });
  const change = { receipt: "c", visibilityTimeoutMs: 0 };
  const all = await Promise.all([
    calls.enqueue("q", messages(1), BY),
    calls.deleteBatch("q", ["a"], BY),
    calls.enqueue("q", messages(2, 3), BY),
    calls.receiveNow("q", { max: 10 }, BY),
    calls.changeVisibilityBatch("q", [change, change], BY),
    calls.deleteBatch("q", ["b", "c"], BY),
    calls.enqueue("q", messages(4), BY),
  ]);
  const stored = { ok: true, messages: null };
  expect(all).toEqual([
    ...[
      stored,
      ["deleted"],
      stored,
      { kind: "empty" },
      ["changed", "changed"],
      ["deleted", "deleted"],
      stored,
    ],
  ]);
  expect(seen).toEqual([
    ["q", [1], undefined, undefined, undefined],
    ["q", [2, 3, 4], 1, ["a", "b", "c"], 2],
  ]);
});

it("a refusal of the messages of one request costs nothing for others that share its call", async () => {
  const { seen, later, calls } = callsOn({
    work: (_, { enqueue, remove }) =>
      later([...(enqueue ? digitsIn(enqueue.packed) : []), ...(remove ?? [])], () => ({
        ok: true as const,
        ...(enqueue && {
          enqueued: digitsIn(enqueue.packed).includes(9)
            ? { ok: false as const, code: 10204, cause: "too large" }
            : { ok: true as const, messages: null },
        }),
        ...(remove && { removed: remove.map((): DeleteOutcome => "deleted") }),
      })),
  });
  const first = calls.enqueue("q", messages(1), BY);
  const sends = [2, 9].map((byte) => calls.enqueue("q", messages(byte), BY));
  const removed = calls.deleteBatch("q", ["a"], BY);
  expect((await Promise.all([first, ...sends])).map(({ ok }) => ok)).toEqual([true, true, false]);
  expect(await removed).toEqual(["deleted"]);
  expect(seen).toEqual([[1], [2, 9, "a"], [2], [9]]);
});

it.each([10104, 10250, 10251])(
  "the refusal %i of a queue is that of each send, without another call",
  async (code) => {
    const refusal = { ok: false as const, code, cause: "not now" };
    const { seen, later, calls } = callsOn({
      work: (_, { enqueue, remove }) =>
        later(null, () => ({
          ok: true as const,
          ...(enqueue && { enqueued: refusal }),
          ...(remove && { removed: remove.map((): DeleteOutcome => "deleted") }),
        })),
    });
    const all = [
      calls.deleteBatch("q", ["a"], BY),
      calls.enqueue("q", messages(1), BY),
      calls.enqueue("q", messages(2), BY),
      calls.deleteBatch("q", ["b"], BY),
    ];
    expect(await Promise.all(all)).toEqual([["deleted"], refusal, refusal, ["deleted"]]);
    expect(seen).toHaveLength(2);
  },
);

it("a send that fails by itself is refused, and the others that shared its call get their outcomes", async () => {
  const log = vi.spyOn(console, "error").mockImplementation(() => {});
  const { later, calls } = callsOn({
    work: (_, { enqueue, remove }) =>
      later(null, () => {
        const digits = enqueue === undefined ? [] : digitsIn(enqueue.packed);
        if (digits.join() === "8") throw new Error("connection lost");
        return {
          ok: true as const,
          ...(enqueue && {
            enqueued: digits.includes(9)
              ? { ok: false as const, code: 10204, cause: "too large" }
              : { ok: true as const, messages: null },
          }),
          ...(remove && { removed: remove.map((): DeleteOutcome => "deleted") }),
        };
      }),
  });
  const first = calls.enqueue("q", messages(1), BY);
  const sends = [2, 8, 9].map((byte) => calls.enqueue("q", messages(byte), BY));
  const removed = calls.deleteBatch("q", ["a"], BY);
  expect(await Promise.all([first, ...sends])).toEqual([
    { ok: true, messages: null },
    { ok: true, messages: null },
    { ok: false, code: 15000, cause: "The broker failed; its log says why." },
    { ok: false, code: 10204, cause: "too large" },
  ]);
  expect(await removed).toEqual(["deleted"]);
  expect(log).toHaveBeenCalledWith(expect.stringContaining("connection lost"));
  log.mockRestore();
});

it("a queue that does not exist any more fails every request that shares the call", async () => {
  const gone = { ok: false as const, code: 10104, cause: "gone" };
  const { later, calls } = callsOn({ work: () => later(null, () => gone) });
  expect(await calls.enqueue("q", messages(1), BY)).toEqual(gone);
  const first = calls.deleteBatch("q", ["a"], BY);
  const [send, receive] = [calls.enqueue("q", messages(1), BY), calls.receiveNow("q", { max: 1 }, BY)];
  for (const each of [first, send, receive]) await expect(each).rejects.toThrow("(10104)");
});

it("operations on an object of this process share a call if they come in one round of the event loop", async () => {
  const { seen, later, calls } = callsOn(
    { deleteBatch: (_, receipts) => later(receipts, () => receipts.map(() => "deleted" as const)) },
    true,
  );
  const deletes = [["a"], ["b", "c"]].map((receipts) => calls.deleteBatch("q", receipts, BY));
  expect(await Promise.all(deletes)).toEqual([["deleted"], ["deleted", "deleted"]]);
  expect(await calls.deleteBatch("q", ["d"], BY)).toEqual(["deleted"]);
  expect(seen).toEqual([["a", "b", "c"], ["d"]]);
});
