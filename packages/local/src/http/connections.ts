import type { Socket } from "node:net";
import { collectGarbage } from "./collect-garbage.ts";
import { ANSWERING_BYTES_MAX, CONNECTIONS_MAX, UNREAD_BYTES_MAX } from "./limits.ts";
import { refuseSocket } from "./refusals.ts";

/**
 * Ends a connection because there is no room for it: whoever reads it at the moment knows how.
 *
 * @param isReading whether some of a request has come, and not all of it.
 */
export type Refuse = (connection: Connection, isReading: boolean) => void;

/** Refuses a connection with 503, for want of room, where nothing of it has been read. */
export const refuseNew: Refuse = ({ socket }) => {
  socket.on("error", () => socket.destroy());
  refuseSocket(socket, 503);
};

/**
 * Costs of one connection: bytes of requests that are not all here, and requests that are being answered. Changed by
 * `Connections` alone, but for `refuse`.
 */
export class Connection {
  readonly socket: Socket;
  /** Answers what is being read with 503 and ends the connection. */
  refuse: Refuse;
  /** Bytes that have come of requests which are not all here. */
  unreadBytes = 0;
  /** Requests that are being answered, and their bytes. */
  answering = 0;
  answeringBytes = 0;
  /** When it became what it is: without anything to do, or in the middle of a request. */
  since = 0;
  /** Nothing of it counts any more. */
  isGone = false;
  /** Whether nobody who is known waits for anything on it. Default: while no request is being answered. */
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
 * While more than this part of what may be unread is, or connections are refused, garbage is collected each time that
 * so many bytes have come.
 */
const PRESSURE_SHARE = 0.25;
const COLLECTED_BYTES = 8_388_608;

const LIMITS: ConnectionLimits = {
  connectionsMax: CONNECTIONS_MAX,
  unreadBytesMax: UNREAD_BYTES_MAX,
  answeringBytesMax: ANSWERING_BYTES_MAX,
};

/**
 * Bounds what all connections of a server cost together. When there is no room, the connection goes that has been
 * quiet, or in the middle of a request, for longest: a stranger's, who keeps places on purpose, before that of a client
 * whose requests come at once.
 *
 * Whoever reads connections says what comes. With each request numbers change and nothing else.
 */
export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #open = new Set<Connection>();
  #unreadBytes = 0;
  #answeringBytes = 0;
  #turn = 0;
  /**
   * Bytes that have come of unfinished requests since garbage was last thought of, and whether any was refused since.
   */
  #cameUncollected = 0;
  #refusedSince = false;

  constructor(limits: Partial<ConnectionLimits> = {}) {
    this.#limits = { ...LIMITS, ...limits };
  }

  get size(): number {
    return this.#open.size;
  }

  /** Bytes of requests that are not all here, and of those that are being answered. */
  get bytes(): { readonly unread: number; readonly answering: number } {
    return { unread: this.#unreadBytes, answering: this.#answeringBytes };
  }

  /** Takes a new connection. `null` if there is no room: it is refused. */
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

  /** So many bytes have come of a request that is not all here. Returns whether it may go on. */
  came(connection: Connection, bytes: number): boolean {
    if (connection.isGone) {
      // It is being refused: what still comes is dropped.
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
   * A request of so many bytes is all here, and is being answered. What is left of what came is of later ones.
   *
   * @returns false where too much is being answered: it is to be refused.
   */
  complete(connection: Connection, bytes: number): boolean {
    this.#setUnread(connection, Math.max(0, connection.unreadBytes - bytes));
    if (connection.isGone || this.#answeringBytes + bytes > this.#limits.answeringBytesMax) return false;
    connection.answering += 1;
    connection.answeringBytes += bytes;
    this.#answeringBytes += bytes;
    return true;
  }

  /** A request that was complete is answered, or nobody waits for the answer any more. */
  answered(connection: Connection, bytes: number): void {
    if (connection.isGone) return;
    connection.answering -= 1;
    connection.answeringBytes -= bytes;
    this.#answeringBytes -= bytes;
    if (connection.unreadBytes === 0) connection.since = this.#nextTurn();
  }

  /** The connection is closed, or will be: nothing more is kept of it. */
  forget(connection: Connection): void {
    if (connection.isGone) return;
    if (!connection.socket.closed) this.#refusedSince = true;
    this.#setUnread(connection, 0);
    this.#answeringBytes -= connection.answeringBytes;
    connection.isGone = true;
    this.#open.delete(connection);
  }

  /** Closes those on which no request is being read or answered. */
  closeQuiet(): void {
    for (const { socket, unreadBytes, answering } of this.#open) {
      if (unreadBytes === 0 && answering === 0) socket.end();
    }
  }

  /** Whether some of a request has come anywhere, and not all of it. */
  get isReading(): boolean {
    return this.#unreadBytes > 0;
  }

  /** So many bytes have come: buffers of them may be garbage. */
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

  #oldest(isMeant: (connection: Connection) => boolean): Connection | null {
    let oldest: Connection | null = null;
    for (const connection of this.#open) {
      if (isMeant(connection) && (oldest === null || connection.since < oldest.since)) oldest = connection;
    }
    return oldest;
  }

  #nextTurn(): number {
    this.#turn += 1;
    return this.#turn;
  }
}
