import { decodeTrace, encodeTrace, type MessageExtension, traceParentIn } from "@sluice/protocol";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Seen, SqsWorld } from "../../test/sqs-world.ts";
import type { Span } from "../tracing/otlp.ts";
import { randomHex, Traces } from "../tracing/traces.ts";

const TRACE = encodeTrace("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "a=1") as Uint8Array;

const redrive = { deadLetterQueue: "dead", maxReceiveCount: 1 };
const definitions = { orders: { receive: { redrive } }, dead: {} };

/** Things that happen to a message between its send and its end. */
const STEPS = {
  deadLetter: async (queues: SqsWorld) => {
    await queues.receive("orders", { visibilityTimeoutMs: 0 });
    await queues.receive("orders", { visibilityTimeoutMs: 0 });
    await queues.quiet();
  },
  back: (queues: SqsWorld) => move(queues, null),
  toOrders: (queues: SqsWorld) => move(queues, "orders"),
  receive: async (queues: SqsWorld) => {
    await queues.receive("orders", { visibilityTimeoutMs: 0 });
  },
  crash: async (queues: SqsWorld) => {
    queues.crash("orders");
    queues.crash("dead");
  },
  pass: (queues: SqsWorld) => queues.pass(1_000),
} as const;
type Step = keyof typeof STEPS;

let tasks = 0;
async function move(queues: SqsWorld, target: string | null): Promise<void> {
  tasks += 1;
  await queues.core("dead").moves.begin({ taskId: `task-${tasks}`, target, ratePerSecond: null });
  await queues.pass(0);
}

const traceOf = ({ extension }: { readonly extension: MessageExtension }) =>
  extension.trace === undefined ? null : Buffer.from(extension.trace).toString("hex");

async function everywhere(queues: SqsWorld): Promise<Seen[]> {
  const inOrders = await queues.receive("orders");
  // The look may have dead-lettered what was received before.
  await queues.quiet();
  return [...inOrders, ...(await queues.receive("dead"))];
}

describe("the trace context of a message", () => {
  it("stays with it over receives, dead letters, move tasks and crashes, and with no other message", async () => {
    const steps = fc.array(fc.constantFrom<Step>(...(Object.keys(STEPS) as Step[])), { maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(steps, async (path) => {
        const queues = new SqsWorld(definitions);
        await queues.enqueue("orders", { body: "traced", trace: TRACE }, { body: "plain" });
        for (const step of path) await STEPS[step](queues);
        const found = await everywhere(queues);
        expect(Object.fromEntries(found.map((seen) => [seen.body, traceOf(seen)]))).toEqual({
          traced: Buffer.from(TRACE).toString("hex"),
          plain: null,
        });
      }),
      { numRuns: 60 },
    );
  });

  it("keeps its id and its state where spans are made, and every message has one then", async () => {
    const steps = fc.array(fc.constantFrom<Step>(...(Object.keys(STEPS) as Step[])), { maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(steps, async (path) => {
        const queues = new SqsWorld(definitions);
        const spans: Span[] = [];
        const ports = { ratio: 1, nowMs: () => queues.nowMs, randomHex };
        queues.tracesOf = (queue) =>
          new Traces(queue, { ...ports, export: (made) => void spans.push(...made) });
        await queues.enqueue("orders", { body: "traced", trace: TRACE }, { body: "plain" });
        for (const step of path) await STEPS[step](queues);
        const found = await everywhere(queues);
        await queues.quiet();
        expect(found.map(({ body }) => body).sort()).toEqual(["plain", "traced"]);
        for (const { body, extension } of found) {
          const own = spans.filter(({ traceId }) => traceId === traceParentIn(extension.trace)?.traceId);
          // The last send of its trace is what it carries, and each span of it has a parent in it but the first.
          const sends = own.filter(({ kind }) => kind === "producer");
          expect(sends.at(-1)?.spanId).toBe(traceParentIn(extension.trace)?.spanId);
          const [first, ...others] = own;
          expect(first?.parentSpanId).toBe(body === "plain" ? undefined : traceParentIn(TRACE)?.spanId);
          for (const { parentSpanId } of others)
            expect(sends.map(({ spanId }) => spanId)).toContain(parentSpanId);
        }
        expect(decodeTrace(found.find(({ body }) => body === "traced")?.extension.trace)?.tracestate).toBe(
          "a=1",
        );
      }),
      { numRuns: 60 },
    );
  });

  it("is not counted in the backlog", async () => {
    const queues = new SqsWorld(definitions);
    await queues.enqueue("orders", { body: "four", trace: TRACE });
    expect(queues.core("orders").metrics()).toMatchObject({ backlogCount: 1, backlogBytes: 4 });
    await STEPS.deadLetter(queues);
    await STEPS.toOrders(queues);
    expect(queues.core("orders").metrics()).toMatchObject({ backlogCount: 1, backlogBytes: 4 });
  });

  it("writes no row more", async () => {
    const rowsOf = async (trace: MessageExtension) => {
      const queues = new SqsWorld(definitions);
      await queues.enqueue("orders", { body: "first", ...trace });
      const [seen] = await queues.receive("orders");
      await queues.delete("orders", seen as Seen);
      return queues.store("orders").rowsWritten;
    };
    expect(await rowsOf({ trace: TRACE })).toBe(await rowsOf({}));
  });
});
