import { reset as emptyAll } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { fittedStack } from "@sluice/protocol/stack";
import type { DeadLetter, QueueHandle, QueueRuntime, WaitingMessage } from "../api.ts";
import { BrokerCalls, producersOn } from "../runtime/broker-calls.ts";
import { Queues } from "../runtime/queues.ts";

export type * from "../api.ts";

/** Binding to the broker in the Worker that runs the tests. */
const BROKER_BINDING = "__SLUICE_BROKER";
const BROKER_URL = "http://localhost";

const calls = new BrokerCalls(BROKER_URL, (url, init) => brokerOf(env).fetch(url, init));
const queues = new Queues(
  { calls, producerOf: producersOn(calls), rewrite: withoutOwnFrames, empty: emptyAll },
  // The start is not known here. Every call that moves the clock gets the time from the broker first.
  Number.NaN,
);

/** Removes the frames of Sluice and of the runtime from a stack trace. */
function withoutOwnFrames(text: string): string {
  return fittedStack(text, Number.POSITIVE_INFINITY);
}

/** @throws Error in a project without a broker. */
function brokerOf(bindings: object): { fetch: typeof fetch } {
  const broker = Reflect.get(bindings, BROKER_BINDING);
  if (broker !== undefined) return broker;
  throw new Error(
    "There is no broker: vitest.config.ts needs plugins: [cloudflareTest(sluice({ … }))], with sluice() of " +
      "@sluice/testing/vitest.",
  );
}

/**
 * Moves the clock. Messages that become due on the way are delivered at their time, in order, and so are those that
 * these deliveries send. Resolves when the clock has arrived and nothing is under way.
 *
 * @param by distance in virtual time.
 * @throws TypeError for an invalid duration.
 * @throws Error after 10,000 deliveries, which mean a loop of sends.
 */
export const advance: QueueRuntime["advance"] = (by) => queues.advance(by);

/**
 * Moves the clock from due time to due time until nothing is left to deliver. It does not wait for the end of leases or
 * of retention periods.
 *
 * @param options `limit`: deliveries after which it rejects, default 10,000. `until`: furthest move of the clock,
 *   default 31 days. `throwErrors`: whether to reject with errors of handlers, default false.
 */
export const runUntilIdle: QueueRuntime["runUntilIdle"] = (options) => queues.runUntilIdle(options);

/**
 * Resolves with the first message that matches, even if that happened before. Moves the clock by at most `within`, by
 * default not at all.
 *
 * @param options `within`: virtual time. `timeoutMs`: longest wait in ms of real time once nothing is due, default
 *   2,000.
 * @throws Error with the messages that there were instead.
 */
export const waitFor: QueueRuntime["waitFor"] = (message, options) => queues.waitFor(message, options);

/** Returns the story of a message. Rejects for an unknown id. */
export const story: QueueRuntime["story"] = (id) => queues.story(id);

/** Returns the stories of all messages, in the order of their sends. */
export const stories: QueueRuntime["stories"] = () => queues.stories();

/** Returns the batches delivered so far, up to the last call that waited for the broker. */
export const batches: QueueRuntime["batches"] = (queue) => queues.batches(queue);

/** Returns a queue by its name, to send without a binding, to pull and to acknowledge. */
export function queue<B = unknown>(name: string): QueueHandle<B> {
  return queues.queue<B>(name);
}

/** Lists the messages in a queue now, at most 1,000. */
export function messages<B = unknown>(queue: string): Promise<WaitingMessage<B>[]> {
  return queues.queue<B>(queue).messages();
}

/** Lists the messages that ran out of retries in a queue, oldest first, wherever they are now. */
export function deadLetters<B = unknown>(queue: string): Promise<DeadLetter<B>[]> {
  return queues.queue<B>(queue).deadLetters();
}

/**
 * Empties everything: queues, Durable Objects, KV, D1 and R2, with the clock back at its start. Variables of modules
 * stay as they are. Call it between tests, because the tests of a file share one broker.
 */
export const reset: QueueRuntime["reset"] = () => queues.reset();
