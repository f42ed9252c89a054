import type { LineFilter } from "./wrangler-lines.ts";

const METHODS = ["log", "info", "warn", "error", "debug"] as const;

/**
 * Shows what is logged through a filter. Only whole messages: what consists of several values is somebody's own.
 *
 * A message that the filter fails on is shown as it is.
 */
export function showConsoleThrough(
  target: Pick<Console, (typeof METHODS)[number]>,
  filter: LineFilter,
): void {
  for (const method of METHODS) {
    const original = target[method].bind(target);
    target[method] = (...args: unknown[]) => {
      const [message] = args;
      if (args.length !== 1 || typeof message !== "string") return original(...args);
      for (const line of shown(message, filter)) original(line);
    };
  }
}

function shown(message: string, filter: LineFilter): readonly string[] {
  try {
    return filter(message);
  } catch {
    return [message];
  }
}
