import { type HostClock, systemClock } from "./clock.ts";
import type { LineSink } from "./log.ts";

/**
 * Surroundings of an object: everything that the broker's classes use of a platform, except for Web APIs that only
 * compute.
 *
 * - Workers: `workersHost`.
 * - Node.js: `nodeHost` of `@sluice/objects`.
 * - Simulated: `apps/soak/src/platform`.
 *
 * `packages/objects/test/contract` holds all three to the same answers.
 */
export interface Host<Env = unknown> {
  readonly id: { readonly name?: string | undefined; toString(): string };
  /** Variables, and the objects and Workers that it may call. No call leaves before earlier writes are durable. */
  readonly env: Env;
  /** Database and single alarm of the object. */
  readonly storage: HostStorage;
  /** Clock for deadlines. */
  readonly clock: HostClock;
  /** Reads the time of day, which people and NTP set, in ms since 1970. */
  systemMs(): number;
  readonly log: LineSink;
  /** Whether the object has ended. Workers stop its code then; elsewhere its code must change nothing any more. */
  readonly isOver: boolean;
  /** Calls back after a time in ms, unless the object has ended. @returns a function that cancels it. */
  after(callback: () => void, ms: number): () => void;
  /** Makes calls wait until `work` is done. */
  blockConcurrencyWhile<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Ends the object: writes that are not durable are lost, and calls under way fail with the reason. */
  abort(reason: string): void;
}

export type HostStorage = Pick<
  DurableObjectStorage,
  "sql" | "transactionSync" | "sync" | "getAlarm" | "setAlarm" | "deleteAlarm"
>;

/** Makes the host of an object from the arguments of its constructor. */
export type HostOf = <Env>(ctx: DurableObjectState, env: Env) => Host<Env>;

/** Makes hosts on Workers. @param clock for deadlines. Default: the platform's. */
export function workersHost(clock: HostClock = systemClock): HostOf {
  return (ctx, env) => ({
    id: ctx.id,
    env,
    storage: ctx.storage,
    clock,
    systemMs: () => Date.now(),
    log: console,
    isOver: false,
    after: (callback, ms) => {
      const timer = setTimeout(callback, ms);
      return () => clearTimeout(timer);
    },
    blockConcurrencyWhile: (work) => ctx.blockConcurrencyWhile(work),
    abort: (reason) => ctx.abort(reason),
  });
}
