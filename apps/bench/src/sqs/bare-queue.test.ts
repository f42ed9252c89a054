import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { BareQueue } from "./bare-queue.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("gives ten at a time, each once, in the order in which they came", () => {
  const queue = new BareQueue();
  const bodies = Array.from({ length: 12 }, (_, i) => `${i}`);
  for (const body of bodies) queue.add(body);
  const given: (readonly string[])[] = [];
  for (let i = 0; i < 3; i++) queue.receive(0, (received) => given.push(received));
  expect(given).toEqual([bodies.slice(0, 10), bodies.slice(10), []]);
});

it("lets one who waits have what comes, and tells who has waited in vain", () => {
  const queue = new BareQueue();
  const given: (readonly string[])[] = [];
  queue.receive(1, (received) => given.push(received));
  queue.receive(1, (received) => given.push(received));
  queue.add("a");
  expect(given).toEqual([["a"]]);
  vi.advanceTimersByTime(1_000);
  expect(given).toEqual([["a"], []]);
});
