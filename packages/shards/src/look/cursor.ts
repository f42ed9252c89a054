/*
 * Cursor of a list over all shards: for each shard the place where its list goes on, in the order of the shards. It is
 * opaque for clients. The gateway changes numbers in it: a place in the messages of a shard ends in the number of
 * messages that were searched, which it sets to 0; it leaves out the number of messages that a shard holds at a
 * beginning.
 */

/**
 * Place in the list of one shard: `at` is the shard's own cursor, `null` at the beginning. `ended` and `held` are the
 * number of its messages, after and before its list was read.
 */
export type ShardPlace = { readonly at: string | null; readonly held?: number } | { readonly ended: number };

const BETWEEN = "_";
const BEGINNING = "b";
const ENDED = "e";

/** Longest cursor, for 100 shards. */
export const CURSOR_LENGTH_MAX = 5_000;

/** Writes the places; `null` when the lists of all shards have ended. */
export function writeCursor(places: readonly ShardPlace[]): string | null {
  if (places.every((place) => "ended" in place)) return null;
  return places
    .map((place) => {
      if ("ended" in place) return `${ENDED}${place.ended}`;
      return place.at ?? `${BEGINNING}${place.held ?? ""}`;
    })
    .join(BETWEEN);
}

/**
 * Reads the places of so many shards. A shard that was added since is at its beginning; the place of one that is gone
 * is left out.
 */
export function readPlaces(cursor: string | undefined, shards: number): ShardPlace[] {
  const texts = cursor === undefined ? [] : cursor.split(BETWEEN);
  return Array.from({ length: shards }, (_, shard): ShardPlace => {
    const text = texts[shard] ?? BEGINNING;
    if (text === BEGINNING) return { at: null };
    if (text.startsWith(BEGINNING)) return { at: null, held: Number(text.slice(1)) };
    return text.startsWith(ENDED) ? { ended: Number(text.slice(1)) } : { at: text };
  });
}
