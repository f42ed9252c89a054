import { type MessageFilter, type MoveSelection, parseFilter } from "@sluice/protocol";
import { expect, it } from "vitest";
import { SqsWorld } from "../../test/sqs-world.ts";

/** A dead-letter queue with messages that came from "orders". */
async function withLetters(...bodies: string[]): Promise<SqsWorld> {
  const queues = new SqsWorld({ orders: {}, others: {}, dead: {} });
  for (const body of bodies) await queues.enqueue("dead", { body, deadLetterOf: "orders" });
  return queues;
}

function filterOf(text: string): MessageFilter {
  const parsed = parseFilter(text);
  if (!parsed.ok) throw new Error(parsed.message);
  return parsed.filter;
}

function begin(queues: SqsWorld, selection: MoveSelection, target: string | null = "others") {
  return queues.core("dead").moves.begin({ taskId: "task", target, ratePerSecond: null, selection });
}

const latest = (queues: SqsWorld) => queues.core("dead").moves.list()[0];

/** Bodies of a queue's messages, in whatever state. */
function bodies(queues: SqsWorld, queue: string): string[] {
  const { messages } = queues.core(queue).messages.look({ max: 100 });
  return messages.map(({ body }) => new TextDecoder().decode(body));
}

it("a move of a selection takes what fits the filter, and leaves the rest as it is", async () => {
  const queues = await withLetters("red lamp", "vase", "blue lamp", "chair");
  const rest = () =>
    queues
      .core("dead")
      .messages.look({ max: 9, filter: filterOf("a") })
      .messages.at(-1);
  const before = rest();
  expect(await begin(queues, { filter: filterOf("lamp") })).toMatchObject({ task: { toMove: 4 } });
  await queues.pass(1_000);
  expect(latest(queues)).toMatchObject({ status: "completed", moved: 2, toMove: 2 });
  expect(bodies(queues, "others")).toEqual(["red lamp", "blue lamp"]);
  expect(bodies(queues, "dead")).toEqual(["vase", "chair"]);
  expect(rest()).toEqual(before);
});

it("a move of a selection takes those that are named, by ids and refs, each back to where it came from", async () => {
  const queues = await withLetters("a", "b", "c", "d");
  const [a, , c] = queues.core("dead").messages.look({ max: 9 }).messages;
  await begin(queues, { only: [a?.id ?? "", c?.ref ?? "", "f".repeat(32)] }, null);
  await queues.pass(1_000);
  expect(latest(queues)).toMatchObject({ status: "completed", moved: 2 });
  expect(bodies(queues, "orders")).toEqual(["a", "c"]);
  expect(bodies(queues, "dead")).toEqual(["b", "d"]);
});

it("a move of a selection takes no more than the limit, the first ones, delayed ones too and no leased ones", async () => {
  const queues = await withLetters("leased", "a");
  await queues.receive("dead", { max: 1, visibilityTimeoutMs: 60_000 });
  await queues.enqueue("dead", { body: "late", delaySeconds: 600 }, "b", "c");
  await begin(queues, { limit: 3 });
  await queues.pass(1_000);
  expect(latest(queues)).toMatchObject({ status: "completed", moved: 3, toMove: 3 });
  expect(bodies(queues, "others")).toHaveLength(3);
  expect(bodies(queues, "dead")).toContain("leased");
  expect(bodies(queues, "dead")).toHaveLength(2);
});

it("a move of an empty selection is done at once", async () => {
  const queues = await withLetters("a");
  await begin(queues, { filter: filterOf("nothing") });
  await queues.pass(1_000);
  expect(latest(queues)).toMatchObject({ status: "completed", moved: 0, toMove: 0 });
  expect(bodies(queues, "dead")).toEqual(["a"]);
});

it("a move of a selection takes every message once, over more than a step, a crash and messages that come meanwhile", async () => {
  const queues = await withLetters();
  const names = Array.from({ length: 1_200 }, (_, i) => `m${i}`);
  for (let i = 0; i < names.length; i += 100) await queues.enqueue("dead", ...names.slice(i, i + 100));
  await begin(queues, { filter: filterOf("m") });
  await queues.quiet();
  queues.restart("dead");
  await queues.pass(60_000);
  expect(latest(queues)).toMatchObject({ status: "completed", moved: 1_200 });
  expect(bodies(queues, "dead")).toEqual([]);
  const { of, matched } = queues.core("others").messages.look({ max: 0, countsAll: true });
  expect([of, matched]).toEqual([1_200, 1_200]);
});

it("a move of a selection goes on where nothing was found in the time of a step", async () => {
  const queues = await withLetters("a", "b");
  const core = queues.core("dead");
  const found = core.messages.find.bind(core.messages);
  let calls = 0;
  // The first look ends at its time, behind the first message.
  core.messages.find = (wanted, after, max, bytesMax) => {
    calls += 1;
    const [segmentId = 0] = core.queue.segments.keys();
    if (calls === 1) return { positions: [], last: { segmentId, index: 0 } };
    return found(wanted, after, max, bytesMax);
  };
  await begin(queues, {});
  await queues.pass(1_000);
  expect(latest(queues)).toMatchObject({ status: "completed", moved: 1 });
  expect(bodies(queues, "others")).toEqual(["b"]);
});

it("a move of a selection fails and leaves everything where a message does not say where it came from, or its queue is gone", async () => {
  const queues = await withLetters("a");
  await queues.enqueue("dead", "unknown");
  await begin(queues, {}, null);
  await queues.pass(1_000);
  expect(latest(queues)).toMatchObject({ status: "failed", failure: "sourceUnknown", moved: 0 });
  delete queues.queues.orders;
  await queues
    .core("dead")
    .moves.begin({
      taskId: "second",
      target: null,
      ratePerSecond: null,
      selection: { filter: filterOf("from:orders") },
    });
  await queues.pass(1_000);
  expect(latest(queues)).toMatchObject({ status: "failed", failure: "targetNotFound", moved: 0 });
  expect(bodies(queues, "dead")).toHaveLength(2);
});
