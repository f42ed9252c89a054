import { type KeepAlive, LINGER_MS, SharedCall, type SharedCallPorts } from "../src/shared-call.ts";

export const WEIGHT_MAX = 100;

/** A call under way, for the test to answer. */
export interface Call {
  readonly items: readonly string[];
  answer(results?: readonly string[]): void;
  fail(error: unknown): void;
}

export interface Timer {
  readonly atMs: number;
  callback(): void;
}

export let calls: Call[];
export let nowMs: number;
/** How far the clock was set back, which timers do not notice. */
let setBackMs: number;
export let timers: Set<Timer>;
export let kept: Promise<unknown>[];
export let shared: SharedCall<string, string>;

export const keep: KeepAlive = (promise) => void kept.push(promise);
export const run = (item: string) => shared.run(item, keep);
/** Lets everything happen that waits for nothing. */
export const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
export const itemsOfCalls = () => calls.map(({ items }) => items);

/** Lets the time pass, timer by timer. */
export async function pass(ms: number): Promise<void> {
  const endMs = nowMs + ms;
  await settle();
  for (;;) {
    const [next] = [...timers].filter(({ atMs }) => atMs <= endMs).sort((a, b) => a.atMs - b.atMs);
    if (next === undefined) break;
    timers.delete(next);
    nowMs = next.atMs;
    next.callback();
    await settle();
  }
  nowMs = endMs;
}

/** Before each test. */
export function startOver(): void {
  calls = [];
  nowMs = 0;
  setBackMs = 0;
  timers = new Set();
  kept = [];
  shared = shareWith({ lingerMs: LINGER_MS });
}

export function shareWith(way: Pick<SharedCallPorts<string, string>, "lingerMs">) {
  return new SharedCall<string, string>({
    ...way,
    call: (items) =>
      new Promise((resolve, reject) => {
        const answer = (results = items.map((item) => item.toUpperCase())) => resolve(results);
        calls.push({ items, answer, fail: reject });
      }),
    weightOf: (item) => (item === "heavy" ? WEIGHT_MAX : 1),
    weightMax: WEIGHT_MAX,
    now: () => nowMs - setBackMs,
    setTimer(ms, callback) {
      const timer = { atMs: nowMs + ms, callback };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
  });
}

/** Goes on with calls that are shared in another way. */
export function shareAgain(way: Parameters<typeof shareWith>[0]): void {
  shared = shareWith(way);
}

export function setNow(ms: number): void {
  nowMs = ms;
}

export function setClockBack(ms: number): void {
  setBackMs = ms;
}
