import type { Unstable_Config } from "wrangler";

/** The part of a configuration that decides which compatibility flags are on. */
export interface Compatibility {
  readonly compatibility_date: string | undefined;
  readonly compatibility_flags: readonly string[];
}

/** Effects of a Worker's compatibility date and flags on its queues (spec cloudflare-queues 1.2, 1.8 and 2.8). */
export interface QueueCompatibility {
  /** Content type of a message that names none. */
  readonly defaultContentType: "json" | "v8";
  /** Whether the error of a failed send is `cause (code)` rather than the HTTP status text. */
  readonly exposeErrorCodes: boolean;
  /** Whether a batch is done only when the `waitUntil` promises of its handler are. */
  readonly waitForWaitUntil: boolean;
  /** Whether a request may resolve a promise that another request awaits. */
  readonly resolvesAcrossRequests: boolean;
  /** Whether the Worker has `AsyncLocalStorage`, by which the consumer finds out which delivery prints a line. */
  readonly hasAsyncLocalStorage: boolean;
}

/** Flag that removes the importable `env`, through which the bindings are replaced. */
export const FLAG_DISALLOW_IMPORTABLE_ENV = "disallow_importable_env";

interface Flag {
  readonly enable: string;
  readonly disable?: string;
  /** Compatibility date from which the flag is on by itself; absent when it never is. */
  readonly defaultFrom?: string;
}

const JSON_MESSAGES: Flag = {
  enable: "queues_json_messages",
  disable: "no_queues_json_messages",
  defaultFrom: "2024-03-18",
};
const EXPOSE_ERROR_CODES: Flag = {
  enable: "queue_expose_error_codes",
  disable: "no_queue_expose_error_codes",
  defaultFrom: "2026-03-12",
};
/** Without this flag a stub has no methods, by which the broker is called. */
const RPC: Flag = { enable: "rpc", disable: "no_rpc", defaultFrom: "2024-04-03" };
const CROSS_REQUEST_RESOLUTION: Flag = {
  enable: "handle_cross_request_promise_resolution",
  disable: "no_handle_cross_request_promise_resolution",
  defaultFrom: "2024-10-14",
};
const ASYNC_LOCAL_STORAGE: readonly Flag[] = ["nodejs_als", "nodejs_compat", "nodejs_compat_v2"].map(
  (enable) => ({ enable }),
);
const NO_WAIT_FOR_WAIT_UNTIL: Flag = { enable: "queue_consumer_no_wait_for_wait_until" };

/** Works out what a Worker's compatibility date and flags say about its queues. */
export function queueCompatibility(worker: Compatibility): QueueCompatibility {
  return {
    defaultContentType: isOn(JSON_MESSAGES, worker) ? "json" : "v8",
    exposeErrorCodes: isOn(EXPOSE_ERROR_CODES, worker),
    waitForWaitUntil: !isOn(NO_WAIT_FOR_WAIT_UNTIL, worker),
    resolvesAcrossRequests: isOn(CROSS_REQUEST_RESOLUTION, worker),
    hasAsyncLocalStorage: ASYNC_LOCAL_STORAGE.some((flag) => isOn(flag, worker)),
  };
}

/** Returns a Worker's compatibility flags, changed where necessary so that the Worker and the broker can use RPC. */
export function flagsWithRpc(worker: Compatibility): readonly string[] {
  const { compatibility_flags: flags } = worker;
  if (isOn(RPC, worker)) return flags;
  return [...flags.filter((flag) => flag !== RPC.disable), RPC.enable];
}

/** Whether a flag is on. Without a date Wrangler uses a recent one, so that every flag with a default date is on. */
function isOn(flag: Flag, { compatibility_date: date, compatibility_flags: flags }: Compatibility): boolean {
  if (flags.includes(flag.enable)) return true;
  if (flag.disable !== undefined && flags.includes(flag.disable)) return false;
  return flag.defaultFrom !== undefined && (date === undefined || date >= flag.defaultFrom);
}

/** The part of a configuration that names the Durable Object classes of a Worker. */
export type ObjectClasses = Pick<Unstable_Config, "name" | "durable_objects" | "migrations" | "exports">;

/**
 * Whether a Worker has Durable Objects of its own: it binds, migrates or exports a class, even a deleted one. The
 * requests of such a Worker share no calls. An object blocks events from outside while it initialises, and a failure
 * resets it with its calls in flight, so that sends of others in a shared call would wait or be lost. A send within an
 * object cannot be told from other sends.
 */
export function hasDurableObjects({ name, durable_objects, migrations, exports }: ObjectClasses): boolean {
  const isOwn = ({ script_name }: { script_name?: string }) =>
    script_name === undefined || script_name === name;
  return (
    durable_objects.bindings.some(isOwn) ||
    migrations.length > 0 ||
    Object.values(exports ?? {}).some(({ type }) => type === "durable-object")
  );
}
