import type { LookRequest, MoveTask, NewMove } from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { SqsWorld } from "../../test/sqs-world.ts";

/** A dead-letter queue with messages that came from other queues: "queue:body". */
async function withLetters(...letters: string[]): Promise<SqsWorld> {
  const queues = new SqsWorld({ "mail-in": {}, "mail-out": {}, orders: {}, dead: {} });
  for (const letter of letters) {
    const [deadLetterSource = "", body = ""] = letter.split(":");
    await queues.enqueue("dead", { body, ...(deadLetterSource === "" ? {} : { deadLetterSource }) });
  }
  return queues;
}

function begin(queues: SqsWorld, move: Partial<NewMove> = {}) {
  const { moves } = queues.core("dead");
  return moves.begin({ taskId: "task", target: null, ratePerSecond: null, mayReach: ["mail-*"], ...move });
}

function latest(queues: SqsWorld): MoveTask | undefined {
  return queues.core("dead").moves.list()[0];
}

/** Bodies of a queue's messages, in whatever state. */
function bodies(queues: SqsWorld, queue: string): string[] {
  const { messages } = queues.core(queue).messages.look({ max: 100 });
  return messages.map(({ body }) => new TextDecoder().decode(body));
}

const LETTERS = ["mail-in:a", "orders:b", "mail-out:c", "orders:d", "mail-in:e"];

describe("a move whose caller may not send to every queue", () => {
  it("leaves what came from the others as it is, moves the rest, and says how many have stayed", async () => {
    const queues = await withLetters(...LETTERS);
    await begin(queues);
    await queues.pass(1_000);
    expect(latest(queues)).toMatchObject({
      status: "failed",
      failure: "notAllowed",
      moved: 3,
      stayed: 2,
      toMove: 5,
    });
    expect(bodies(queues, "orders")).toEqual([]);
    expect(bodies(queues, "mail-in")).toEqual(["a", "e"]);
    expect(bodies(queues, "mail-out")).toEqual(["c"]);
    const left = await queues.receive("dead");
    expect(left.map(({ body, receiveCount }) => [body, receiveCount])).toEqual([
      ["b", 1],
      ["d", 1],
    ]);
  });

  it("completes when nothing has to stay", async () => {
    const queues = await withLetters("mail-in:a", "mail-out:b");
    await begin(queues, { mayReach: ["mail-in", "mail-out"] });
    await queues.pass(1_000);
    expect(latest(queues)).toMatchObject({ status: "completed", moved: 2, failure: null });
    expect(latest(queues)).not.toHaveProperty("stayed");
  });

  it("ends when everything has to stay, also where that has more messages than leave in one commit", async () => {
    const queues = await withLetters(...Array.from({ length: 1_001 }, (_, i) => `orders:${i}`));
    await begin(queues);
    await queues.pass(1_000);
    expect(latest(queues)).toMatchObject({
      status: "failed",
      failure: "notAllowed",
      moved: 0,
      stayed: 1_001,
    });
  });

  it("sends nothing to a fallback that is not among its queues, and to one that is", async () => {
    for (const [fallback, moved] of [
      ["orders", 0],
      ["mail-in", 1],
    ] as const) {
      const queues = await withLetters(":straight");
      await begin(queues, { fallback });
      await queues.pass(1_000);
      expect(latest(queues)).toMatchObject({ moved, failure: moved === 0 ? "notAllowed" : null });
      expect(bodies(queues, fallback)).toHaveLength(moved);
    }
  });

  it("does not ask whether a queue exists that it may not send to", async () => {
    const queues = await withLetters("nowhere:a", "mail-in:b");
    const asked: string[] = [];
    queues.exists = async (name) => {
      asked.push(name);
      return true;
    };
    await begin(queues);
    await queues.pass(1_000);
    expect(latest(queues)).toMatchObject({ moved: 1, stayed: 1 });
    expect(asked).not.toContain("nowhere");
  });

  it("takes what is ready alone, unless it has a selection; of that it takes no more than the limit", async () => {
    const queues = await withLetters(...LETTERS);
    await queues.enqueue("dead", { body: "late", deadLetterSource: "mail-in", delaySeconds: 600 });
    await begin(queues);
    await queues.pass(1_000);
    expect(bodies(queues, "dead").sort()).toEqual(["b", "d", "late"]);
    await begin(queues, { taskId: "again", selection: { limit: 1 } });
    await queues.pass(1_000);
    expect(latest(queues)).toMatchObject({ status: "completed", moved: 1, toMove: 1, stayed: 2 });
    expect(bodies(queues, "dead").sort()).toEqual(["b", "d"]);
  });

  it("is counted beforehand by a look that returns messages to the same queues", async () => {
    const queues = await withLetters(...LETTERS, ":straight");
    const look = (returning: LookRequest["returning"]) => {
      const request: LookRequest = { max: 10, isWaiting: true, countsAll: true };
      return queues.core("dead").messages.look({ ...request, ...(returning && { returning }) });
    };
    expect(look(undefined).matched).toBe(6);
    expect(look({ mayReach: ["mail-*"] })).toMatchObject({ matched: 3, of: 6 });
    expect(look({ mayReach: ["mail-*"], fallback: "mail-out" }).messages.map(({ from }) => from)).toEqual([
      ...["mail-in", "mail-out", "mail-in", null],
    ]);
  });

  it("keeps its rate over messages that stay", async () => {
    const queues = await withLetters(...LETTERS);
    await begin(queues, { ratePerSecond: 1 });
    await queues.pass(1_999);
    expect(latest(queues)).toMatchObject({ status: "running", moved: 2, stayed: 1 });
    await queues.pass(1_001);
    expect(latest(queues)).toMatchObject({ status: "failed", moved: 3, stayed: 2 });
  });

  it("goes on after a crash at every write with the same queues, and counts what stays once", async () => {
    for (let k = 1; k <= 30; k++) {
      const queues = await withLetters(...LETTERS);
      await begin(queues, { ratePerSecond: 1 });
      queues.store("dead").failWrite(k);
      for (let round = 0; round < 4; round++) {
        await queues.pass(1_200);
        queues.crash("dead");
      }
      await queues.pass(40_000);
      queues.store("dead").failWrite(Number.POSITIVE_INFINITY);
      expect(latest(queues)).toMatchObject({ status: "failed", failure: "notAllowed", moved: 3, stayed: 2 });
      expect([k, bodies(queues, "orders"), bodies(queues, "mail-in")]).toEqual([k, [], ["a", "e"]]);
    }
  });
});
