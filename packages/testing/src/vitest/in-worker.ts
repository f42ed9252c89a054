import { reset as emptyAll } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { DeadLetter, QueueHandle, QueueRuntime, WaitingMessage } from "../api.ts";
import { BrokerCalls, producersOn } from "../runtime/broker-calls.ts";
import { Queues } from "../runtime/queues.ts";

export type * from "../api.ts";

/** Binding to the broker, of the Worker that the tests run in. */
const BROKER_BINDING = "__SLUICE_BROKER";
const BROKER_URL = "http://localhost";

const calls = new BrokerCalls(BROKER_URL, (url, init) => brokerOf(env).fetch(url, init));
const queues = new Queues(
  { calls, producerOf: producersOn(calls), rewrite: (text) => text, empty: emptyAll },
  // Where the clock stands is asked before it matters.
  Number.NaN,
);

/** @throws Error in a project that has none. */
function brokerOf(bindings: object): { fetch: typeof fetch } {
  const broker = Reflect.get(bindings, BROKER_BINDING);
  if (broker !== undefined) return broker;
  throw new Error(
    "There is no broker: vitest.config.ts is to say plugins: [cloudflareTest(sluice({ … }))], with sluice() of " +
      "@sluice/testing/vitest.",
  );
}

/**
 * Moves the clock. What comes due on the way is delivered at its time, in order, and so is what that causes. Resolves
 * when the clock is there and nothing is under way any more.
 *
 * @throws TypeError for a time that is none.
 * @throws Error after 10,000 deliveries: something sends to itself.
 */
export const advance: QueueRuntime["advance"] = (by) => queues.advance(by);

/**
 * Moves the clock from due time to due time until nothing is left to be delivered. Neither a lease nor the end of a
 * retention period is waited for.
 *
 * @param options `limit`: deliveries after which it gives up, default 10,000. `until`: furthest that it goes, default
 *   31 days. `throwErrors`: rejects with what a handler has thrown, default false.
 */
export const runUntilIdle: QueueRuntime["runUntilIdle"] = (options) => queues.runUntilIdle(options);

/**
 * Resolves with the first message that fits, also if that has happened before. Moves the clock as far as `within`
 * allows, which by default is not at all.
 *
 * @param options `within`: virtual time. `timeoutMs`: how long to wait in real time once nothing is due, default 2,000.
 * @throws Error with what happened instead.
 */
export const waitFor: QueueRuntime["waitFor"] = (message, options) => queues.waitFor(message, options);

/** Tells what happened to a message. Rejects for an id that nothing is known of. */
export const story: QueueRuntime["story"] = (id) => queues.story(id);

/** Tells what happened to all messages, in the order of their sends. */
export const stories: QueueRuntime["stories"] = () => queues.stories();

/** Batches as they were delivered so far: since the last call that waited for the broker. */
export const batches: QueueRuntime["batches"] = (queue) => queues.batches(queue);

/** A queue by its name: to send to one without a binding, to pull and to acknowledge. */
export function queue<B = unknown>(name: string): QueueHandle<B> {
  return queues.queue<B>(name);
}

/** Lists the messages that are in a queue now: 1,000 at most. */
export function messages<B = unknown>(queue: string): Promise<WaitingMessage<B>[]> {
  return queues.queue<B>(queue).messages();
}

/** Lists the messages that a queue has given up, oldest first, wherever they are now. */
export function deadLetters<B = unknown>(queue: string): Promise<DeadLetter<B>[]> {
  return queues.queue<B>(queue).deadLetters();
}

/**
 * Begins anew: no messages, the clock where it began, Durable Objects, KV, D1 and R2 empty. Variables of modules stay
 * as they are. Call it between tests: a file of them shares one broker.
 */
export const reset: QueueRuntime["reset"] = () => queues.reset();
