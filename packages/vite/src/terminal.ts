import { ownSources } from "@sluice/local/runtime-modules";
import { withoutOwnFrames } from "@sluice/local/stacks/own-frames";
import { namedRunner } from "./stacks.ts";

/** Members that are used of Vite's logger. */
export interface Logger {
  error(text: string, ...options: unknown[]): void;
  warn(text: string, ...options: unknown[]): void;
  info(text: string, ...options: unknown[]): void;
}

const METHODS = ["error", "warn", "info"] as const;
/** Loggers that were changed already. A server has several environments. */
const folding = new WeakSet<Logger>();

/**
 * Removes the frames of Sluice and of the runtime from the stack traces that a logger prints, as `sluice dev` does.
 *
 * @param own folders of our own sources. Absolute. Default: `ownSources()`.
 */
export function foldOwnFrames(logger: Logger, own: readonly string[] = [ownSources()]): void {
  if (folding.has(logger)) return;
  folding.add(logger);
  for (const method of METHODS) {
    const print = logger[method];
    logger[method] = (text, ...options) =>
      print.call(logger, withoutOwnFrames(namedRunner(text), own), ...options);
  }
}
