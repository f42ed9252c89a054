import { format } from "node:util";
import type { Unstable_Config } from "wrangler";
import { CliError } from "../errors.ts";
import { loadWrangler } from "./load-wrangler.ts";
import { withFileItself, withReadableFile } from "./pull-consumers.ts";

/** Wrangler's reading of a configuration and what it had to say about it. */
export interface WranglerReading {
  readonly config: Unstable_Config;
  /** As Wrangler printed it, colours and all; empty when it had nothing to say. */
  readonly warnings: string;
}

export interface ReadOptions {
  /** As in `wrangler --env`; the empty string is the top level whatever `CLOUDFLARE_ENV` says. */
  readonly env: string;
  /** Keeps Wrangler from warning, and from asking the registry for a newer version that might know the unknown key. */
  readonly quiet: boolean;
}

/**
 * Reads a configuration through Wrangler itself, so that environments, defaults and paths are exactly its own.
 *
 * Consumers of the type `http_pull`, which this Wrangler refuses and older ones took, are read as Workers' ones: none
 * of the queues in the answer is ever used.
 *
 * @param file absolute: Wrangler keeps some paths relative to it.
 * @throws CliError with everything that Wrangler finds wrong.
 */
export async function readWranglerConfig(file: string, options: ReadOptions): Promise<WranglerReading> {
  const { unstable_readConfig } = loadWrangler();
  const { result, printed } = capturing("warn", (): Unstable_Config => {
    try {
      return withReadableFile(file, (config) =>
        unstable_readConfig({ config, env: options.env }, { hideWarnings: options.quiet }),
      );
    } catch (error) {
      throw new CliError(error instanceof Error ? error.message : String(error));
    }
  });
  return { config: result, warnings: withFileItself(printed, file) };
}

/** Reads an empty configuration by Wrangler, for its defaults: a name without a known extension counts as one. */
export async function wranglerDefaults(): Promise<Unstable_Config> {
  const { unstable_readConfig } = loadWrangler();
  return unstable_readConfig({ config: "", env: "" }, { hideWarnings: true });
}

/** Wrangler prints what it has to say while it reads, and hands it out in no other way. */
export function capturing<T>(method: "log" | "warn", run: () => T): { result: T; printed: string } {
  const original = console[method];
  let printed = "";
  console[method] = (...args: unknown[]) => {
    printed += `${format(...args)}\n`;
  };
  try {
    return { result: run(), printed };
  } finally {
    console[method] = original;
  }
}
