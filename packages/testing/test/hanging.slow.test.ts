import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { createQueueRuntime, type QueueRuntime } from "../src/index.ts";

interface Env {
  readonly TASKS: { send(body: string): Promise<unknown> };
  readonly DONE: { get(key: string): Promise<string | null> };
}

const HANGING = fileURLToPath(new URL("fixtures/hanging", import.meta.url));
const REST = "\nreset() ends it. What takes longer needs a larger `timeoutMs` of createQueueRuntime.";
const BATCH = '\n  queue "tasks", consumer "hanging": a batch of 1 message';

const start = (timeoutMs?: number) => {
  return createQueueRuntime<Env>({
    workers: [HANGING],
    log: () => {},
    outbound: () => new Promise<Response>(() => {}),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  });
};

let queues: QueueRuntime<Env>;
let url: string;
beforeAll(async () => {
  queues = await start(2_000);
  url = queues.sqsUrl("tasks").href;
});
beforeEach(() => queues.reset());
afterAll(() => queues[Symbol.asyncDispose]());

async function expectToWork(): Promise<void> {
  await queues.env.TASKS.send("well");
  expect(await queues.runUntilIdle()).toMatchObject({ acked: 1, delivered: 1 });
  expect([await queues.env.DONE.get("well"), queues.sqsUrl("tasks").href]).toEqual(["done", url]);
}

it.each([
  [
    "sends an unanswered request",
    "asks",
    "\n  POST https://mail.example.com/send: outbound has not answered",
  ],
  ["runs in a loop", "loop", ""],
  ["sleeps", "sleeps", ""],
  ["prints without an end", "prints", ""],
])("a handler that %s is named, and ended by reset()", async (_, what, also) => {
  await queues.env.TASKS.send(what);
  await expect(queues.runUntilIdle()).rejects.toThrow(
    `Nothing has happened for 2 s, and this has not ended:${BATCH}${also}${REST}`,
  );
  await queues.reset();
  expect(await queues.stories()).toEqual([]);
  await expectToWork();
});

it("reset() ends a handler that no call waits for", async () => {
  await queues.env.TASKS.send("loop");
  await queues.waitFor({ state: "delivered" }, { timeoutMs: 1 }).catch(() => {});
  await queues.reset();
  await expectToWork();
});

it("a call of another handler is named", async () => {
  await expect(queues.scheduled({ cron: "sleeps" })).rejects.toThrow(
    `this has not ended:\n  Worker "hanging": scheduled()${REST}`,
  );
  await expect(queues.fetch("/loop", { method: "PUT" })).rejects.toThrow(
    `this has not ended:\n  PUT http://localhost/loop: fetch() of the Worker${REST}`,
  );
});

it("calls reject when the runtime is disposed of, and after that", async () => {
  const runtime = await start();
  await runtime.env.TASKS.send("loop");
  const running = runtime.runUntilIdle();
  const sending = runtime.queue("tasks").send("more");
  const rejected = Promise.allSettled([running, sending]);
  await runtime[Symbol.asyncDispose]();
  const later = await Promise.allSettled([
    runtime.env.TASKS.send("more"),
    runtime.stories(),
    runtime.reset(),
  ]);
  for (const call of [...(await rejected), ...later]) {
    expect(call).toMatchObject({
      reason: { message: expect.stringMatching(/^The runtime was disposed of\.( \(15000\))?$/) },
    });
  }
});
