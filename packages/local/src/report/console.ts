/** Makes of one message that is logged the messages that are shown in its place. */
export type LineFilter = (message: string) => readonly string[];

const METHODS = ["log", "info", "warn", "error", "debug"] as const;

/**
 * Shows what is logged through a filter. Only whole messages: what consists of several values is somebody's own.
 *
 * A message that the filter fails on is shown as it is.
 *
 * @returns what takes the filter away again, unless somebody else has changed the console since.
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
