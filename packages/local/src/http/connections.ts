import type { Socket } from "node:net";
import { collectGarbage } from "./collect-garbage.ts";
import { ANSWERING_BYTES_MAX, CONNECTIONS_MAX, UNREAD_BYTES_MAX } from "./limits.ts";
import { refuseSocket } from "./refusals.ts";

/**
 * Ends a connection because there is no room for it. Set by the code that currently reads the connection.
 *
 * @param isReading whether a part of a request has arrived, and not all of it.
 */
export type Refuse = (connection: Connection, isReading: boolean) => void;

/** Refuses a connection with 503 where nothing of it has been read. */
export const refuseNew: Refuse = ({ socket }) => {
  socket.on("error", () => socket.destroy());
  refuseSocket(socket, 503);
};

/**
 * Costs of one connection: bytes of requests that have not arrived completely, and requests that are being answered.
 * Only `Connections` changes its fields, except `refuse`.
 */
export class Connection {
  readonly socket: Socket;
  /** Answers the request that is being read with 503, and ends the connection. */
  refuse: Refuse;
  /** Bytes that have arrived of requests that are not complete. */
  unreadBytes = 0;
  /** Number of requests that are being answered, and their bytes. */
  answering = 0;
  answeringBytes = 0;
  /** Turn (`#nextTurn`) at which the connection became idle, or at which its unfinished request began. */
  since = 0;
  /** Whether it is closed or being refused: it counts no more. */
  isGone = false;
  /** Whether it may be refused to make room for a new one. Default: while no request is being answered. */
  readonly isQuiet: () => boolean;

  constructor(socket: Socket, refuse: Refuse, isQuiet: (() => boolean) | undefined) {
    this.socket = socket;
    this.refuse = refuse;
    this.isQuiet = isQuiet ?? (() => this.answering === 0);
  }
}

interface ConnectionLimits {
  readonly connectionsMax: number;
  readonly unreadBytesMax: number;
  readonly answeringBytesMax: number;
}

/**
 * Garbage is collected after each `COLLECTED_BYTES` that have arrived, while more than this share of `unreadBytesMax`
 * is in use or connections are refused.
 */
const PRESSURE_SHARE = 0.25;
const COLLECTED_BYTES = 8_388_608;

const LIMITS: ConnectionLimits = {
  connectionsMax: CONNECTIONS_MAX,
  unreadBytesMax: UNREAD_BYTES_MAX,
  answeringBytesMax: ANSWERING_BYTES_MAX,
};

/**
 * Bounds the cost of all connections of a server together. When there is no room, the connection that has been idle, or
 * in the middle of a request, for longest is refused: one that an attacker holds open before that of a client whose
 * requests arrive at once.
 *
 * The reader of the connections reports bytes and requests. A request changes only numbers here.
 */
export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #open = new Set<Connection>();
  #unreadBytes = 0;
  #answeringBytes = 0;
  #turn = 0;
  /**
   * Bytes that have arrived of unfinished requests since `#collect` last decided, and whether a connection was refused
   * since.
   */
  #cameUncollected = 0;
  #refusedSince = false;

  constructor(limits: Partial<ConnectionLimits> = {}) {
    this.#limits = { ...LIMITS, ...limits };
  }

  get size(): number {
    return this.#open.size;
  }

  /** Bytes of requests that are not complete, and of those that are being answered. */
  get bytes(): { readonly unread: number; readonly answering: number } {
    return { unread: this.#unreadBytes, answering: this.#answeringBytes };
  }

  /** Takes a new connection. Refuses it and returns `null` if there is no room. */
  accept(socket: Socket, refuse: Refuse, isQuiet?: () => boolean): Connection | null {
    const connection = new Connection(socket, refuse, isQuiet);
    if (this.#open.size >= this.#limits.connectionsMax) {
      const oldest = this.#oldest((other) => other.isQuiet());
      if (oldest === null) {
        connection.isGone = true;
        refuse(connection, false);
        return null;
      }
      this.#refuse(oldest);
    }
    connection.since = this.#nextTurn();
    this.#open.add(connection);
    socket.once("close", () => this.forget(connection));
    return connection;
  }

  /** Counts bytes of a request that is not complete. Returns whether they may be read. */
  came(connection: Connection, bytes: number): boolean {
    if (connection.isGone) {
      // The connection is being refused, and the bytes are dropped.
      this.#collect(bytes);
      return false;
    }
    if (connection.unreadBytes === 0) connection.since = this.#nextTurn();
    connection.unreadBytes += bytes;
    this.#unreadBytes += bytes;
    this.#collect(bytes);
    while (this.#unreadBytes > this.#limits.unreadBytesMax) {
      const oldest = this.#oldest((other) => other.unreadBytes > 0);
      if (oldest === null) break;
      this.#refuse(oldest);
    }
    return !connection.isGone;
  }

  /**
   * Counts a complete request of so many bytes as being answered. The rest of the connection's unread bytes belongs to
   * later requests.
   *
   * @returns `false` if the request is to be refused, since too many bytes are being answered.
   */
  complete(connection: Connection, bytes: number): boolean {
    this.#setUnread(connection, Math.max(0, connection.unreadBytes - bytes));
    if (connection.isGone || this.#answeringBytes + bytes > this.#limits.answeringBytesMax) return false;
    connection.answering += 1;
    connection.answeringBytes += bytes;
    this.#answeringBytes += bytes;
    return true;
  }

  /** Ends the count of a complete request: it is answered, or its client has gone. */
  answered(connection: Connection, bytes: number): void {
    if (connection.isGone) return;
    connection.answering -= 1;
    connection.answeringBytes -= bytes;
    this.#answeringBytes -= bytes;
    if (connection.unreadBytes === 0) connection.since = this.#nextTurn();
  }

  /** Ends the count of a connection that is closed, or will be. */
  forget(connection: Connection): void {
    if (connection.isGone) return;
    if (!connection.socket.closed) this.#refusedSince = true;
    this.#setUnread(connection, 0);
    this.#answeringBytes -= connection.answeringBytes;
    connection.isGone = true;
    this.#open.delete(connection);
  }

  /** Closes connections on which no request is being read or answered. */
  closeQuiet(): void {
    for (const { socket, unreadBytes, answering } of this.#open) {
      if (unreadBytes === 0 && answering === 0) socket.end();
    }
  }

  /** Whether any connection has a request that is not complete. */
  get isReading(): boolean {
    return this.#unreadBytes > 0;
  }

  /** Counts arrived bytes, whose buffers may be garbage, and collects garbage under pressure. */
  #collect(bytes: number): void {
    this.#cameUncollected += bytes;
    if (this.#cameUncollected < COLLECTED_BYTES) return;
    this.#cameUncollected = 0;
    const isUnderPressure = this.#unreadBytes > PRESSURE_SHARE * this.#limits.unreadBytesMax;
    if (isUnderPressure || this.#refusedSince) collectGarbage();
    this.#refusedSince = false;
  }

  #refuse(connection: Connection): void {
    const isReading = connection.unreadBytes > 0;
    this.forget(connection);
    connection.refuse(connection, isReading);
  }

  #setUnread(connection: Connection, bytes: number): void {
    this.#unreadBytes += bytes - connection.unreadBytes;
    connection.unreadBytes = bytes;
  }

  #oldest(matches: (connection: Connection) => boolean): Connection | null {
    let oldest: Connection | null = null;
    for (const connection of this.#open) {
      if (matches(connection) && (oldest === null || connection.since < oldest.since)) oldest = connection;
    }
    return oldest;
  }

  #nextTurn(): number {
    this.#turn += 1;
    return this.#turn;
  }
}
