import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createQueueRuntime, explore, type Fault, type QueueRuntime, type Story } from "../src/index.ts";

interface Env {
  readonly BOOK: { getByName(name: string): { lines(): Promise<string[]> } };
}

let queues: QueueRuntime<Env>;
beforeAll(async () => {
  const workers = [fileURLToPath(new URL("fixtures/calls", import.meta.url))];
  queues = await createQueueRuntime<Env>({ workers, log: () => {} });
});
afterAll(() => queues[Symbol.asyncDispose]());

/** Ends the first handler of a message at a call. Returns the message's outcome, with the lines in the book then. */
async function endedAt(body: string, kind: "endBefore" | "endAfter", call: number) {
  const history: Fault[] = [{ kind, message: 1, attempt: 1, arg: call }];
  let stories: readonly Story[] = [];
  let lines: string[] = [];
  const { faults } = await explore({
    runtime: queues,
    act: () => queues.queue("calls").send(body),
    holds: async (_, all) => {
      stories = all;
      lines = await queues.env.BOOK.getByName("book").lines();
    },
    history,
  });
  const [first] = stories;
  const error = first?.events.flatMap((event) => event.error ?? [])[0]?.split("\n", 1)[0];
  return { came: faults[kind], error, deliveries: first?.events.at(-1)?.attempt, state: first?.state, lines };
}

const CALLS = [
  ["1st", "env.MARKS.get"],
  ["2nd", "env.MARKS.put"],
  ["3rd", "env.DB.exec"],
  ["4th", "env.DB.batch"],
  ["5th", "env.DB.all"],
  ["6th", "env.FILES.put"],
  ["7th", "env.BOOK.add"],
  ["8th", "env.DESK.hello"],
  ["9th", "env.DESK.given"],
  ["10th", "env.DESK.passOn"],
  ["11th", "env.DESK.drawer.open"],
  ["12th", "env.DESK.fetch"],
  ["13th", "fetch"],
  ["14th", "env.AFTER.send"],
] as const;
const LINES = ["added", "hello you", "hello given", "hello passed on", "fetched"];

describe("a handler that a fault ends", () => {
  it.each(CALLS.map((call, i) => [i + 1, ...call] as const))(
    "stops at call %i, the %s, %s",
    async (call, nth, name) => {
      const after = await endedAt("all", "endAfter", call);
      expect(after).toMatchObject({
        came: 1,
        deliveries: 2,
        state: "acked",
        error: `fault endAfter: the handler ended after its ${nth} call, ${name}`,
      });
      const before = await endedAt("all", "endBefore", call);
      expect(before).toMatchObject({
        came: 1,
        deliveries: 2,
        state: "acked",
        error: `fault endBefore: the handler ended before its ${nth} call, ${name}`,
      });
      // Its later calls were not made; the second handler does nothing.
      expect(after.lines).toEqual(LINES.slice(0, after.lines.length));
      expect(before.lines).toEqual(LINES.slice(0, before.lines.length));
      const isWritten = ["env.BOOK.add", "env.DESK.hello", "env.DESK.passOn", "env.DESK.fetch"].includes(
        name,
      );
      expect(after.lines.length - before.lines.length).toBe(isWritten ? 1 : 0);
    },
  );

  it("does not stop at a call that it does not make", async () => {
    const { came, ...rest } = await endedAt("all", "endAfter", 15);
    expect(came).toBe(0);
    expect(rest).toEqual({ error: undefined, deliveries: 1, state: "acked", lines: LINES });
  });

  it("makes no more calls, even if it catches, races and waits for several", async () => {
    expect((await endedAt("stubbornly", "endAfter", 1)).lines).toEqual(["first"]);
    expect((await endedAt("stubbornly", "endBefore", 2)).lines).toEqual(["first"]);
    expect((await endedAt("stubbornly", "endAfter", 2)).lines.sort()).toEqual(["first", "second"]);
    expect((await endedAt("stubbornly", "endBefore", 5)).lines).toHaveLength(4);
  });

  it("stops at a call that it does not await, and has acknowledged nothing then", async () => {
    const { deliveries, lines } = await endedAt("unheard", "endAfter", 1);
    expect([deliveries, lines]).toEqual([2, ["unheard"]]);
    expect((await endedAt("unheard", "endBefore", 2)).lines).toEqual(["unheard"]);
  });
});
