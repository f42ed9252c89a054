import { expect, it } from "vitest";
import { Handled } from "./handled.ts";
import { type Payload, payload } from "./payload.ts";
import { runWay } from "./run.ts";
import { sendFromLoops, type Target, type Way } from "./ways.ts";

/** A system that takes `callMs` for a call and handles a message `handleMs` later, on a clock of its own. */
function system(callMs: number, handleMs: number) {
  const seen = { calls: 0, messages: 0, atOnce: 0, most: 0 };
  const handled = new Handled();
  let nowMs = 1_000_000;
  const take = async (payloads: readonly Payload[]) => {
    seen.calls += 1;
    seen.messages += payloads.length;
    seen.atOnce += 1;
    seen.most = Math.max(seen.most, seen.atOnce);
    await Promise.resolve();
    seen.atOnce -= 1;
    nowMs += callMs;
    for (const { sentMs } of payloads) handled.note(sentMs, Number(sentMs) + handleMs);
  };
  const target: Target = {
    send: (payload) => take([payload]),
    sendHundred: take,
    sendFromRequests: (requests, messages) =>
      sendFromLoops(
        requests,
        messages,
        () => take([payload(nowMs)]),
        () => nowMs,
      ),
    sendAndAwait: (payload) => take([payload]),
  };
  return { seen, run: (way: Way, messages: number) => runWay(way, messages, target, handled, () => nowMs) };
}

it.each([
  ["single", 300, 1],
  ["idle", 300, 1],
  ["concurrent50", 300, 50],
  ["concurrent500", 1000, 500],
  ["requests50", 300, 50],
  ["batch100", 3, 1],
  ["burst", 20, 10],
] as const)("%s makes %i calls, never more at once than %i", async (way, calls, atOnce) => {
  const { seen, run } = system(1, 1);
  const messages = way === "batch100" || way === "burst" ? 100 * calls : calls;
  await run(way, messages);
  expect(seen).toEqual({ calls, messages, atOnce: 0, most: atOnce });
});

it("reports rates of messages and times of calls", async () => {
  const measured = await system(4, 7).run("batch100", 1000);
  expect(measured).toEqual({
    messages: 1000,
    sentPerSecond: 25_000,
    handledPerSecond: 25_000,
    call: { meanMs: 4, p50Ms: 4, p99Ms: 4 },
    endToEnd: { meanMs: 7, p50Ms: 7, p99Ms: 7 },
  });
});

it("starts each run anew", async () => {
  const { run } = system(2, 3);
  await run("single", 100);
  expect((await run("single", 200)).messages).toBe(200);
});

it("fails when a send is refused", async () => {
  const refuse = () => Promise.reject(new Error("refused"));
  const target: Target = {
    send: refuse,
    sendHundred: refuse,
    sendFromRequests: refuse,
    sendAndAwait: refuse,
  };
  await expect(runWay("concurrent50", 100, target, new Handled(), () => 0)).rejects.toThrow("refused");
});
