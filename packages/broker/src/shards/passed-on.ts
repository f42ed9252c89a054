/*
 * Names of the streams in which a shard passes messages on to another shard of its queue: one for each origin. So the
 * other shard recognises items that it has taken, and stores a message as if it had come from its origin. A contract:
 * the outbox stores the target, the inbox the source.
 */

/** Makes the target of messages that come from `origin`. */
export function passTarget(object: string, origin: string): string {
  return `${object}<${origin}`;
}

/** Reads a target of the outbox. `origin` is `null` for messages that are not passed on. */
export function readPassTarget(target: string): { readonly object: string; readonly origin: string | null } {
  const at = target.indexOf("<");
  return at < 0
    ? { object: target, origin: null }
    : { object: target.slice(0, at), origin: target.slice(at + 1) };
}

/** Makes the source of messages from `origin` that an object passes on. */
export function passSource(origin: string, by: string): string {
  return `${origin}>${by}`;
}

/** Reads the source of a transfer. `by` is `null` for messages that come from their origin itself. */
export function readPassSource(source: string): { readonly origin: string; readonly by: string | null } {
  const at = source.indexOf(">");
  return at < 0 ? { origin: source, by: null } : { origin: source.slice(0, at), by: source.slice(at + 1) };
}
