import { requireOfWrangler } from "@sluice/project/wrangler/load-wrangler";
import type { Miniflare, V4MiniflareOptions, V4SharedOptions, V4WorkerOptions } from "miniflare";

/** Module of any version of Miniflare. Miniflare 5, of Wrangler 4.117, added `convertV4MiniflareOptions`. */
interface MiniflareOfAnyVersion {
  readonly convertV4MiniflareOptions?: typeof import("miniflare").convertV4MiniflareOptions;
  readonly Miniflare: new (options: MiniflareOptions) => Miniflare;
}
type MiniflareOptions = ConstructorParameters<typeof Miniflare>[0];

export interface MiniflareRun {
  /** Folder of all persisted data: Durable Objects, KV, R2, D1. Absolute. */
  readonly resources: string;
  /** Prints a message of workerd or of a Worker, with workerd's name of its level. */
  print(text: string, level: string): void;
  /** Further options in the form of Miniflare 4. Default: none. */
  readonly more?: V4SharedOptions;
}

/** Starts the Miniflare of the user's Wrangler with these Workers. */
export function startMiniflare(workers: readonly V4WorkerOptions[], run: MiniflareRun): Miniflare {
  const { Miniflare } = requireOfWrangler<MiniflareOfAnyVersion>("miniflare");
  return new Miniflare(optionsOf(workers, run));
}

/** Restarts workerd with these Workers and resources. */
export function restartMiniflare(
  miniflare: Miniflare,
  workers: readonly V4WorkerOptions[],
  run: MiniflareRun,
): Promise<void> {
  return miniflare.setOptions(optionsOf(workers, run));
}

/** Returns the options in the form of the user's Miniflare: those of version 4, or converted for version 5. */
function optionsOf(workers: readonly V4WorkerOptions[], { resources, print, more }: MiniflareRun) {
  const options: V4MiniflareOptions = {
    ...more,
    workers: [...workers],
    // Otherwise Miniflare requests a `cf` object from the Internet.
    cf: false,
    logRequests: false,
    handleStructuredLogs: ({ level, message }) => {
      const text = printedOf(message);
      if (text !== null) print(text, level);
    },
  };
  const { convertV4MiniflareOptions: convert } = requireOfWrangler<MiniflareOfAnyVersion>("miniflare");
  return (
    convert?.({ ...options, resourcePersistencePath: resources }) ??
    ({ ...options, defaultPersistRoot: resources } as unknown as MiniflareOptions)
  );
}

/** Messages of workerd's own library about a connection that was refused or lost. Its caller gets an exception, too. */
const DISCONNECTED = [
  /^(?:uncaught exception; )?exception = \S+ disconnected: /,
  /^uncaught exception; source = [^;]+; stack = Error: Network connection lost\.$/,
];
/** Message for a call by an outdated map of shards. The caller repeats the call by the newer map. */
const OTHER_MAP = /^uncaught exception; source = [^;]+; stack = ShardMapError: /;
/** Addresses in workerd's code, which are of no use to a user. */
const ADDRESSES = /\nstack: .*$/;

/** Rewrites a message of workerd or a Worker for printing; `null` for one that is not printed. */
export function printedOf(message: string): string | null {
  const isHandled = [...DISCONNECTED, OTHER_MAP].some((noted) => noted.test(message));
  return isHandled ? null : message.replace(ADDRESSES, "");
}
