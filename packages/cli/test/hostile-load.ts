import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";

/** Reads the resident memory of a process, in bytes. */
export function residentBytes(pid: number): number {
  const [, kilobytes = ""] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return 1_024 * Number(kilobytes);
}

/** Connections of hostile clients, with counts of the answers. */
export class Strangers {
  readonly #port: number;
  readonly #sockets = new Set<Socket>();
  /** Number of answers by status code. */
  readonly statuses = new Map<string, number>();
  /** Number of connections that the other side ended. */
  ended = 0;
  /** Number of written pieces that the server, or the operating system for it, has accepted. */
  taken = 0;

  constructor(port: number) {
    this.#port = port;
  }

  /**
   * Opens a connection and writes to it as fast as the server reads. Resolves when all is written, or the connection is
   * closed.
   *
   * @param bytes number of bytes to write after `head`.
   */
  async say(head: string, bytes = 0): Promise<Socket> {
    const socket = connect({ port: this.#port, host: "127.0.0.1" });
    this.#sockets.add(socket);
    let isOver = false;
    const over = new Promise<void>((resolve) => {
      socket.on("close", () => {
        isOver = true;
        this.#sockets.delete(socket);
        this.ended += 1;
        resolve();
      });
    });
    socket.on("error", () => {});
    socket.on("data", (chunk) => {
      const [, status] = /^HTTP\/1\.1 (\d+)/.exec(chunk.toString("latin1")) ?? [];
      if (status !== undefined) this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
    });
    await Promise.race([once(socket, "connect").catch(() => {}), over]);
    const written = (async () => {
      const piece = Buffer.alloc(65_536, 0x78);
      const write = (data: string | Buffer) =>
        new Promise<void>((resolve) =>
          socket.write(data, () => {
            this.taken += 1;
            resolve();
          }),
        );
      await write(head);
      for (let sent = 0; sent < bytes && !isOver; sent += piece.byteLength) {
        await write(bytes - sent < piece.byteLength ? piece.subarray(0, bytes - sent) : piece);
      }
    })();
    await Promise.race([written, over]);
    return socket;
  }

  destroy(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}
