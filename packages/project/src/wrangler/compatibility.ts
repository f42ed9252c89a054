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
  /** Whether a failed send says `cause (code)` rather than the HTTP status text. */
  readonly exposeErrorCodes: boolean;
  /** Whether a batch is done only when the `waitUntil` promises of its handler are. */
  readonly waitForWaitUntil: boolean;
  /** Whether a request may resolve what another one waits for. */
  readonly resolvesAcrossRequests: boolean;
  /** Whether it has `AsyncLocalStorage`, which tells which delivery prints a line. */
  readonly hasAsyncLocalStorage: boolean;
}

/** Takes the importable `env` away, through which the bindings are replaced. */
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
/** Without it a stub has no methods, and the broker is reached by methods of stubs. */
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

/** The compatibility flags with which a Worker and the broker can call each other: the Worker's own where they do. */
export function flagsWithRpc(worker: Compatibility): readonly string[] {
  const { compatibility_flags: flags } = worker;
  if (isOn(RPC, worker)) return flags;
  return [...flags.filter((flag) => flag !== RPC.disable), RPC.enable];
}

/** A configuration without a date gets Wrangler's own recent one, so everything that ever became a default is on. */
function isOn(flag: Flag, { compatibility_date: date, compatibility_flags: flags }: Compatibility): boolean {
  if (flags.includes(flag.enable)) return true;
  if (flag.disable !== undefined && flags.includes(flag.disable)) return false;
  return flag.defaultFrom !== undefined && (date === undefined || date >= flag.defaultFrom);
}

/** The part of a configuration that names the Durable Object classes of a Worker. */
export type ObjectClasses = Pick<Unstable_Config, "name" | "durable_objects" | "migrations" | "exports">;

/**
 * Whether a Worker has Durable Objects of its own: it binds, migrates or exports a class, be it one that is gone. Where
 * it has, its requests share no calls. An object blocks what comes from outside while it initialises, and is reset with
 * all that it does when it fails: with its call, those of others would have to wait or be lost. Nothing tells a send
 * within an object from others.
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
