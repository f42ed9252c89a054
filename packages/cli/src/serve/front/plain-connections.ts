import type { Socket } from "node:net";
import { PlainConnection, type PlainConnectionPorts } from "./plain-connection.ts";

/** How often connections are looked at, in ms. */
export const LOOK_MS = 5_000;
/** Looks after which a request that is not all here is left to `node:http`. */
const READING_LOOKS_MAX = 2;

export interface PlainConnectionsPorts extends Omit<PlainConnectionPorts, "closed"> {
  readonly keepAliveMs: number;
}

/** The connections whose requests are plain (`plain-connection.ts`), until they are not. */
export class PlainConnections {
  /** Of all connections. */
  readonly #ports: PlainConnectionPorts & { keepAliveMs: number | null };
  readonly #keepAliveMs: number;
  readonly #connections = new Set<PlainConnection>();
  /** One for all of them: a timer of each connection's own would be set anew with each request. */
  readonly #timer: NodeJS.Timeout;

  constructor(ports: PlainConnectionsPorts) {
    this.#ports = { ...ports, closed: (connection) => this.#connections.delete(connection) };
    this.#keepAliveMs = ports.keepAliveMs;
    this.#timer = setInterval(() => this.#look(), LOOK_MS).unref();
  }

  accept(socket: Socket): void {
    this.#connections.add(new PlainConnection(socket, this.#ports));
  }

  /** Connections end with the answer that they wait for, and at once if they wait for none. */
  stop(): void {
    this.#ports.keepAliveMs = null;
    for (const connection of [...this.#connections]) connection.stop();
  }

  /** Resolves when all answers are written. Only once they are stopped, and nothing is under way. */
  async flushed(): Promise<void> {
    await Promise.all([...this.#connections].map((connection) => connection.flushed()));
  }

  destroy(): void {
    clearInterval(this.#timer);
    for (const connection of [...this.#connections]) connection.destroy();
  }

  #look(): void {
    for (const connection of [...this.#connections]) {
      const looks = connection.look();
      if (looks >= READING_LOOKS_MAX && connection.isReading) connection.giveUp();
      else if (looks * LOOK_MS > this.#keepAliveMs) connection.end();
    }
  }
}
