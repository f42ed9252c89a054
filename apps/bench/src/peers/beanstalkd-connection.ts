import { connect, type Socket } from "node:net";

/** A reply of beanstalkd: its first line in words, and the data of one that carries a job. */
export interface Reply {
  readonly words: readonly string[];
  readonly data: string | null;
}

/** Takes the replies out of a stream of bytes, whatever pieces they arrive in. */
export class ReplyReader {
  #bytes: Buffer = Buffer.alloc(0);

  /** The replies that are complete with this piece. */
  push(piece: Buffer): Reply[] {
    this.#bytes = this.#bytes.byteLength === 0 ? piece : Buffer.concat([this.#bytes, piece]);
    const replies: Reply[] = [];
    for (let reply = this.#take(); reply !== null; reply = this.#take()) replies.push(reply);
    return replies;
  }

  #take(): Reply | null {
    const lineEnd = this.#bytes.indexOf("\r\n");
    if (lineEnd === -1) return null;
    const words = this.#bytes.toString("latin1", 0, lineEnd).split(" ");
    const dataFrom = lineEnd + 2;
    if (words[0] !== "RESERVED") {
      this.#bytes = this.#bytes.subarray(dataFrom);
      return { words, data: null };
    }
    const dataTo = dataFrom + Number(words[2]);
    if (this.#bytes.byteLength < dataTo + 2) return null;
    const data = this.#bytes.toString("utf8", dataFrom, dataTo);
    this.#bytes = this.#bytes.subarray(dataTo + 2);
    return { words, data };
  }
}

/**
 * A connection to beanstalkd. Commands are pipelined: each is written at once and the replies come in the same order.
 * What is said within one turn of the event loop goes out in one write.
 */
export class BeanstalkdConnection {
  readonly #socket: Socket;
  readonly #waiting: { resolve(reply: Reply): void; reject(error: Error): void }[] = [];
  #pending: string[] = [];

  private constructor(socket: Socket) {
    this.#socket = socket;
    const reader = new ReplyReader();
    socket.setNoDelay(true);
    socket.on("data", (piece: Buffer) => {
      for (const reply of reader.push(piece)) this.#waiting.shift()?.resolve(reply);
    });
    socket.on("error", (error) => this.#fail(error));
    socket.on("close", () => this.#fail(new Error("beanstalkd closed the connection")));
  }

  static async open(port: number): Promise<BeanstalkdConnection> {
    const socket = connect(port, "127.0.0.1");
    await new Promise<void>((resolve, reject) => {
      socket.once("connect", () => resolve());
      socket.once("error", reject);
    });
    return new BeanstalkdConnection(socket);
  }

  /** Resolves when the job is stored. */
  async put(body: string): Promise<void> {
    const { words } = await this.#say(`put 0 0 120 ${Buffer.byteLength(body)}\r\n${body}\r\n`);
    if (words[0] !== "INSERTED") throw new Error(`put was answered ${words.join(" ")}`);
  }

  /** Waits for a job. */
  async reserve(): Promise<{ id: string; body: string }> {
    const { words, data } = await this.#say("reserve\r\n");
    if (words[1] === undefined || data === null) throw new Error(`reserve was answered ${words.join(" ")}`);
    return { id: words[1], body: data };
  }

  async delete(id: string): Promise<void> {
    const { words } = await this.#say(`delete ${id}\r\n`);
    if (words[0] !== "DELETED") throw new Error(`delete was answered ${words.join(" ")}`);
  }

  close(): void {
    this.#socket.destroy();
  }

  #say(command: string): Promise<Reply> {
    if (this.#pending.length === 0) {
      setImmediate(() => {
        this.#socket.write(this.#pending.join(""));
        this.#pending = [];
      });
    }
    this.#pending.push(command);
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  #fail(error: Error): void {
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }
}
