import { type HostClock, systemClock } from "./clock.ts";
import type { LineSink } from "./log.ts";

/**
 * The surroundings of an object: everything that the broker's classes use of a platform, except for Web APIs that only
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
  /** Variables, and the other objects and Workers that it may call. No call leaves before what was written is durable. */
  readonly env: Env;
  /** Its database and its one alarm. */
  readonly storage: HostStorage;
  /** The time that deadlines go by. */
  readonly clock: HostClock;
  /** The time of day by the system's clock, which people and NTP set, in ms since 1970. */
  systemMs(): number;
  readonly log: LineSink;
  /** Whether the object has ended. Workers stop its code then; elsewhere what it still does is nobody's. */
  readonly isOver: boolean;
  /** Calls back after a time in ms, unless the object has ended. @returns what cancels it. */
  after(callback: () => void, ms: number): () => void;
  /** Lets calls wait until `work` is done. */
  blockConcurrencyWhile<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Ends the object: what is not durable is lost, and calls that are under way fail with the reason. */
  abort(reason: string): void;
}

export type HostStorage = Pick<
  DurableObjectStorage,
  "sql" | "transactionSync" | "sync" | "getAlarm" | "setAlarm" | "deleteAlarm"
>;

/** Finds the host of an object by what its class is constructed with. */
export type HostOf = <Env>(ctx: DurableObjectState, env: Env) => Host<Env>;

/** Hosts on Workers. @param clock the time that deadlines go by. Default: the platform's. */
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
