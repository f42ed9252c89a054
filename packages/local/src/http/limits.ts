import type { ServerOptions } from "node:http";

/* Limits on the cost of clients to the process that listens. They apply before a client is authenticated. */

/** Longest head of a request, in bytes; longer ones are answered with 431. */
export const HEAD_BYTES_MAX = 65_536;
/** Most chunks of a body that may have any size. With more, their average is at least `CHUNK_BYTES_MIN`, else 413. */
export const CHUNKS_MAX = 16_384;
/** Least average of a chunk in a body with more than `CHUNKS_MAX`, in bytes. A million of one byte take most of 1 s. */
export const CHUNK_BYTES_MIN = 64;
/** How long a head may take to arrive, in ms, from its first byte or the beginning of the connection. Then 408. */
export const HEAD_MS_MAX = 10_000;
/** How long a request may take to arrive, body included, in ms. Then 408. */
const REQUEST_MS_MAX = 60_000;
/** How often the two limits above are checked, in ms: a request may take this much longer. */
const LOOK_MS = 2_000;
/** How long a client may keep a connection without a request, in ms: longer than clients' own pools keep theirs. */
export const IDLE_MS_MAX = 75_000;
/**
 * How long a client may take no bytes of the answers that wait for it, in ms. Then its connection is closed. This is
 * Node's timeout for any inactive connection, so it is longer than `REQUEST_MS_MAX`: a request that stops half-way
 * gets its 408.
 */
export const UNTAKEN_MS_MAX = 70_000;
/**
 * Most connections. A further one replaces the one that has been idle for longest; if none is idle, it is refused with
 * 503.
 */
export const CONNECTIONS_MAX = 1_024;
/**
 * Most bytes of requests that have not arrived completely, over all connections. For more bytes the oldest such request
 * is refused with 503.
 */
export const UNREAD_BYTES_MAX = 8_388_608;
/** Most bytes of requests that are being answered. A further request is refused with 503. */
export const ANSWERING_BYTES_MAX = 67_108_864;
/** Most parsers of closed connections that `node:http` keeps for new ones. Each keeps the last head that it read. */
export const IDLE_PARSERS_MAX = 32;

/** Options of every server with these limits. */
export const HTTP_LIMITS = {
  keepAliveTimeout: IDLE_MS_MAX,
  maxHeaderSize: HEAD_BYTES_MAX,
  headersTimeout: HEAD_MS_MAX,
  requestTimeout: REQUEST_MS_MAX,
  connectionsCheckingInterval: LOOK_MS,
} satisfies ServerOptions;
