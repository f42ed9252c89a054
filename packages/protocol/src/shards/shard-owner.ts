const encoder = new TextEncoder();

/**
 * Finds the shard of a message group among `open` shards, by rendezvous hashing: of `open` shards and one more, each
 * group stays where it was or goes to the new one. A contract: every version has to find the same.
 */
export function ownerOf(group: string, open: number): number {
  const hash = hashOf(group);
  let owner = 0;
  let best = -1;
  for (let shard = 0; shard < open; shard++) {
    const weight = mixed(hash ^ Math.imul(shard + 1, 0x9e3779b1));
    if (weight > best) {
      best = weight;
      owner = shard;
    }
  }
  return owner;
}

/** FNV-1a of the text's UTF-8. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of encoder.encode(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash;
}

/** The finalizer of MurmurHash3: every bit of the input changes half of the output's. */
function mixed(bits: number): number {
  let hash = bits ^ (bits >>> 16);
  hash = Math.imul(hash, 0x85ebca6b);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
