import { AsyncLocalStorage } from "node:async_hooks";
import type { ChildProcess } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { type Server, Socket } from "node:net";
import { setTimeout } from "node:timers";
import type { Worker } from "node:worker_threads";

/** How long a runtime that is not disposed of keeps its process from ending after its last use, in ms. */
const STAY_MS = 5_000;
const CHILD_CHANNEL = "child_process";
const SERVER_CHANNEL = "tracing:net.server.listen:asyncStart";

/**
 * The child process, the server and the thread of a Miniflare, which keeps them to itself.
 *
 * The test runner of Node.js waits until its process has nothing left to do, and a test that fails may never come to
 * dispose of its runtime. Once released they do not keep the process alive, but for some seconds after each use: a test
 * may wait for what a Worker does by itself.
 */
export class ProcessHandles {
  readonly #handles: (ChildProcess | Server | Worker)[] = [];
  readonly #starting = new AsyncLocalStorage<true>();
  #stay: NodeJS.Timeout | undefined;

  /** Starts something. What it starts is known from then on, until `release`. */
  known<Result>(start: () => Result): Result {
    subscribe(CHILD_CHANNEL, this.#childStarts);
    subscribe(SERVER_CHANNEL, this.#serverStarts);
    process.on("worker", this.#threadStarts);
    return this.#starting.run(true, start);
  }

  /** Lets the process end when nothing else is left to do, and the runtime has not been used for some seconds. */
  release(): void {
    this.#stopListening();
    for (const handle of this.#handles) {
      handle.unref();
      if (!("stdio" in handle)) continue;
      for (const stream of handle.stdio) if (stream instanceof Socket) stream.unref();
    }
    this.used();
  }

  /** Notes a use. */
  used(): void {
    this.#stay ??= setTimeout(() => {}, STAY_MS);
    this.#stay.refresh();
  }

  /** Keeps the process alive until the runtime has ended. */
  async untilEnded(end: () => Promise<void>): Promise<void> {
    this.#stopListening();
    const stay = setInterval(() => this.used(), STAY_MS);
    try {
      await end();
    } finally {
      clearInterval(stay);
      clearTimeout(this.#stay);
    }
  }

  #stopListening(): void {
    unsubscribe(CHILD_CHANNEL, this.#childStarts);
    unsubscribe(SERVER_CHANNEL, this.#serverStarts);
    process.off("worker", this.#threadStarts);
  }

  readonly #childStarts = (message: unknown): void => {
    if (this.#starting.getStore()) this.#handles.push((message as { process: ChildProcess }).process);
  };

  readonly #serverStarts = (message: unknown): void => {
    if (!this.#starting.getStore()) return;
    const { server } = message as { server: Server };
    this.#handles.push(server);
    // What is under way is waited for by who has asked for it.
    server.on("connection", (socket) => socket.unref());
  };
  readonly #threadStarts = (thread: Worker): void => {
    if (this.#starting.getStore()) this.#handles.push(thread);
  };
}
