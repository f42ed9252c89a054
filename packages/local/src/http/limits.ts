import type { ServerOptions } from "node:http";

/** Limits on what strangers may cost the process that listens: all of it counts before any client is known. */

/** Longest head of a request, in bytes; longer ones are answered with 431. */
export const HEAD_BYTES_MAX = 65_536;
/** Most chunks of a body that may be as small as they come. Of more, the average is of `CHUNK_BYTES_MIN`; else 413. */
export const CHUNKS_MAX = 16_384;
/** Fewest bytes of a chunk on average, in a body of more than `CHUNKS_MAX`: a million of single bytes takes most of a second. */
export const CHUNK_BYTES_MIN = 64;
/** How long a head may take to come, in ms, from its first byte or the beginning of the connection. Then 408. */
export const HEAD_MS_MAX = 10_000;
/** How long a request may take to come, body included, in ms. Then 408. */
const REQUEST_MS_MAX = 60_000;
/** How often requests are looked for that take too long, in ms: they may take this much longer. */
const LOOK_MS = 2_000;
/** How long a client may keep a connection without a request, in ms: longer than clients' own pools keep theirs. */
export const IDLE_MS_MAX = 75_000;
/**
 * How long a client may take nothing of the answers that wait for it, in ms. Then its connection is closed. Nothing else
 * happens on it meanwhile either, so this is longer than a request may take: one that stops half-way gets its 408.
 */
export const UNTAKEN_MS_MAX = 70_000;
/**
 * Most connections. For another one the one goes that has had nothing to do for longest; where each has, it is refused
 * with 503.
 */
export const CONNECTIONS_MAX = 1_024;
/**
 * Most bytes of requests that are not all here, of all connections. For others the oldest of them is refused with 503.
 */
export const UNREAD_BYTES_MAX = 8_388_608;
/** Most bytes of requests that are being answered. Another one is refused with 503. */
export const ANSWERING_BYTES_MAX = 67_108_864;
/** Parsers of closed connections that `node:http` keeps for new ones: each with the last head that it has read. */
export const IDLE_PARSERS_MAX = 32;

/** Options of every server of `node:http` here. */
export const HTTP_LIMITS = {
  keepAliveTimeout: IDLE_MS_MAX,
  maxHeaderSize: HEAD_BYTES_MAX,
  headersTimeout: HEAD_MS_MAX,
  requestTimeout: REQUEST_MS_MAX,
  connectionsCheckingInterval: LOOK_MS,
} satisfies ServerOptions;
