import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** A connection that is written to byte for byte, and all that has come back. */
export class RawClient {
  readonly socket: Socket;
  /** Resolves when the connection is closed on both sides. */
  readonly closed: Promise<void>;
  text = "";
  isEnded = false;
  #heard: (() => void)[] = [];

  private constructor(socket: Socket) {
    this.socket = socket;
    this.closed = new Promise((resolve) => socket.on("close", () => resolve(this.#tell())));
    socket.setEncoding("latin1").on("data", (text) => {
      this.text += text;
      this.#tell();
    });
    socket.on("end", () => {
      this.isEnded = true;
      this.#tell();
    });
    socket.on("error", () => {});
  }

  static async open(port: number): Promise<RawClient> {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true, allowHalfOpen: true });
    const client = new RawClient(socket);
    await once(socket, "connect");
    return client;
  }

  /** Writes it, and lets the other side see it by itself. */
  async write(text: string | Uint8Array): Promise<void> {
    await new Promise((resolve) => this.socket.write(text, resolve));
    for (let turn = 0; turn < 4; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  }

  /** Resolves when this has come so many times; throws when the connection ends before. */
  async received(text: string, times = 1): Promise<void> {
    while (this.text.split(text).length <= times) {
      if (this.isEnded || this.socket.destroyed) throw new Error(`ended after ${JSON.stringify(this.text)}`);
      await this.#something();
    }
  }

  /** Resolves when the other side has ended the connection. */
  async ended(): Promise<void> {
    while (!this.isEnded && !this.socket.destroyed) await this.#something();
  }

  #something(): Promise<void> {
    return new Promise((resolve) => this.#heard.push(resolve));
  }

  #tell(): void {
    for (const tell of this.#heard.splice(0)) tell();
  }
}
