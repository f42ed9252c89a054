import { requireOfWrangler } from "@sluice/project/wrangler/load-wrangler";
import type { Miniflare, V4MiniflareOptions, V4SharedOptions, V4WorkerOptions } from "miniflare";

/** Module of Miniflare, of any version: `convertV4MiniflareOptions` is there since Miniflare 5, of Wrangler 4.117. */
interface MiniflareOfAnyVersion {
  readonly convertV4MiniflareOptions?: typeof import("miniflare").convertV4MiniflareOptions;
  readonly Miniflare: new (options: MiniflareOptions) => Miniflare;
}
type MiniflareOptions = ConstructorParameters<typeof Miniflare>[0];

export interface MiniflareRun {
  /** Folder of everything that is kept: Durable Objects, KV, R2, D1. Absolute. */
  readonly resources: string;
  /** Prints a message of workerd or of a Worker, with its level as workerd names it. */
  print(text: string, level: string): void;
  /** Options that this run adds, as Miniflare 4 takes them. Default: none. */
  readonly more?: V4SharedOptions;
}

/** Starts the Miniflare of the user's Wrangler with these Workers. */
export function startMiniflare(workers: readonly V4WorkerOptions[], run: MiniflareRun): Miniflare {
  const { Miniflare } = requireOfWrangler<MiniflareOfAnyVersion>("miniflare");
  return new Miniflare(optionsOf(workers, run));
}

/** Starts workerd again, with these Workers and resources. */
export function restartMiniflare(
  miniflare: Miniflare,
  workers: readonly V4WorkerOptions[],
  run: MiniflareRun,
): Promise<void> {
  return miniflare.setOptions(optionsOf(workers, run));
}

/** Options as the Miniflare of the user's Wrangler takes them: before version 5 as they are. */
function optionsOf(workers: readonly V4WorkerOptions[], { resources, print, more }: MiniflareRun) {
  const options: V4MiniflareOptions = {
    ...more,
    workers: [...workers],
    // Otherwise Miniflare asks the Internet for one.
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

/**
 * A connection that was refused or lost, as workerd's own library notes it. Whoever made it is told by an exception.
 */
const DISCONNECTED = [
  /^(?:uncaught exception; )?exception = \S+ disconnected: /,
  /^uncaught exception; source = [^;]+; stack = Error: Network connection lost\.$/,
];
/** A shard that has told its caller a later map: the caller goes by that. */
const OTHER_MAP = /^uncaught exception; source = [^;]+; stack = ShardMapError: /;
/** Addresses in workerd, which say nothing to anybody. */
const ADDRESSES = /\nstack: .*$/;

/** Rewrites a message of workerd or a Worker for printing; `null` for one that is not printed. */
export function printedOf(message: string): string | null {
  const isHandled = [...DISCONNECTED, OTHER_MAP].some((noted) => noted.test(message));
  return isHandled ? null : message.replace(ADDRESSES, "");
}
