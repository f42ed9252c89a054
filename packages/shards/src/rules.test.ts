import { QueueObjects } from "@sluice/protocol";
import { expect, it } from "vitest";
import { packed } from "../test/fake-queue.ts";
import type { Method, QueueRpc } from "./calls/queue-rpc.ts";
import { ShardedQueues } from "./calls/sharded-queues.ts";
import { PRODUCER_RULES, QUEUE_RULES } from "./rules.ts";

/** Every method, each with a call of it. The type lets none be left out. */
const CALLS: { readonly [Of in Method]: (queue: QueueRpc) => Promise<unknown> } = {
  post: (queue) => queue.post("q", [{ packed: packed({}) }]),
  send: (queue) => queue.send("q", [{ packed: packed({}) }], "shop"),
  work: (queue) => queue.work("q", { receive: [{ max: 1 }] }),
  receive: (queue) => queue.receive("q", { max: 1 }),
  cancelReceive: (queue) => queue.cancelReceive("q", "r"),
  release: (queue) => queue.release("q", ["t"]),
  pull: (queue) => queue.pull("q", {}),
  settleLeases: (queue) => queue.settleLeases("q", { acks: [], retries: [] }),
  peek: (queue) => queue.peek("q", 3),
  deleteByRefs: (queue) => queue.deleteByRefs("q", ["t"]),
  makeDue: (queue) => queue.makeDue("q", ["t"]),
  metrics: (queue) => queue.metrics("q"),
  messageCounts: (queue) => queue.messageCounts("q"),
  describe: (queue) => queue.describe("q"),
  why: (queue) => queue.why("q"),
  look: (queue) => queue.look("q", { max: 1 }),
  history: (queue) => queue.history("q", { max: 1 }),
  story: (queue) => queue.story("q", "id"),
  idsNamed: (queue) => queue.idsNamed("q", "id"),
  figures: (queue) => queue.figures("q", { window: "1h" }),
  watch: (queue) => queue.watch("q", { after: null, state: null }),
  faults: (queue) => queue.faults("q"),
  listMoves: (queue) => queue.listMoves("q"),
  purge: (queue) => queue.purge("q"),
  drain: (queue) => queue.drain("q"),
  setFaults: (queue) => queue.setFaults("q", { seed: 1, faults: [] }),
  startMove: (queue) => queue.startMove("q", { taskId: "t", target: null, ratePerSecond: null }),
  cancelMove: (queue) => queue.cancelMove("q", "t"),
};

/** Finds objects that answer every method with what they were called by. */
function objects() {
  const called: (readonly unknown[])[] = [];
  const object = new Proxy({} as QueueRpc, {
    get:
      (_, method) =>
      async (...args: readonly unknown[]) => {
        called.push([method, ...args]);
        return "the object's answer";
      },
  });
  const found = new QueueObjects<QueueRpc>({
    namespace: () => ({ getByName: () => object }),
    placeOf: async () => null,
  });
  return { found, called };
}

it("every method has a rule", () => {
  expect(Object.keys(QUEUE_RULES).sort()).toEqual(Object.keys(CALLS).sort());
  expect(Object.keys(PRODUCER_RULES)).toEqual(["post", "metrics"]);
});

it.each(Object.entries(CALLS))(
  "a queue without shards is asked itself, in one call: %s",
  async (name, call) => {
    const { found, called } = objects();
    const answer = await call(new ShardedQueues(found, QUEUE_RULES).of("q"));
    expect(answer).toBe("the object's answer");
    expect(called).toHaveLength(1);
    expect(called[0]?.slice(0, 2)).toEqual([name, "q"]);
  },
);
