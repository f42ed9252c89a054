import type { Miniflare, V4MiniflareOptions } from "miniflare";
import { requireOfWrangler } from "./load-wrangler.ts";

/** Module of Miniflare, of any version: `convertV4MiniflareOptions` is there since Miniflare 5, of Wrangler 4.117. */
interface MiniflareOfAnyVersion {
  readonly convertV4MiniflareOptions?: typeof import("miniflare").convertV4MiniflareOptions;
  readonly Miniflare: new (options: MiniflareOptions) => Miniflare;
}
type MiniflareOptions = ConstructorParameters<typeof Miniflare>[0];

/** Options as the Miniflare of the user's Wrangler takes them: before version 5 as they are. */
export function miniflareOptions(options: V4MiniflareOptions, resources: string): MiniflareOptions {
  const { convertV4MiniflareOptions: convert } = requireOfWrangler<MiniflareOfAnyVersion>("miniflare");
  return (
    convert?.({ ...options, resourcePersistencePath: resources }) ??
    ({ ...options, defaultPersistRoot: resources } as unknown as MiniflareOptions)
  );
}

/**
 * Starts the Miniflare of the user's Wrangler.
 *
 * @param options as Miniflare 4 takes them.
 * @param resources folder of everything that is kept: Durable Objects, KV, R2, D1. Absolute.
 */
export function newMiniflare(options: V4MiniflareOptions, resources: string): Miniflare {
  const { Miniflare } = requireOfWrangler<MiniflareOfAnyVersion>("miniflare");
  return new Miniflare(miniflareOptions(options, resources));
}
