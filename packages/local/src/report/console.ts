/** Returns the messages to show instead of a logged message. */
export type LineFilter = (message: string) => readonly string[];

const METHODS = ["log", "info", "warn", "error", "debug"] as const;

/**
 * Filters the messages of a console that are logged as a single string. Calls with several values are left alone: the
 * filtered tools make none. If the filter throws, the message is shown as it is.
 *
 * @returns a function that removes the filter from each method that has not been replaced since.
 */
export function showConsoleThrough(
  target: Pick<Console, (typeof METHODS)[number]>,
  filter: LineFilter,
): () => void {
  const changed = METHODS.map((method) => {
    const { [method]: original } = target;
    const show = original.bind(target);
    const filtered = (...args: unknown[]) => {
      const [message] = args;
      if (args.length !== 1 || typeof message !== "string") return show(...args);
      for (const line of shown(message, filter)) show(line);
    };
    target[method] = filtered;
    return { method, original, filtered };
  });
  return () => {
    for (const { method, original, filtered } of changed) {
      if (target[method] === filtered) target[method] = original;
    }
  };
}

function shown(message: string, filter: LineFilter): readonly string[] {
  try {
    return filter(message);
  } catch {
    return [message];
  }
}
