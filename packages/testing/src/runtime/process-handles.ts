import { AsyncLocalStorage } from "node:async_hooks";
import type { ChildProcess } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { type Server, Socket } from "node:net";
// Not the global ones, which a test may have replaced.
import { clearInterval, clearTimeout, setInterval, setTimeout } from "node:timers";
import type { Worker } from "node:worker_threads";

/** How long after its last use a runtime that was not disposed of keeps its process alive, in ms. */
const STAY_MS = 5_000;
const CHILD_CHANNEL = "child_process";
const SERVER_CHANNEL = "tracing:net.server.listen:asyncStart";

/**
 * Keeps the child process, the server and the thread of a Miniflare, which does not expose them.
 *
 * The test runner of Node.js waits until its process has nothing left to do, and a failing test may never dispose of
 * its runtime. After `release` the handles keep the process alive only for some seconds after each use, in which a test
 * may wait for what a Worker does by itself.
 */
export class ProcessHandles {
  readonly #handles: (ChildProcess | Server | Worker)[] = [];
  readonly #starting = new AsyncLocalStorage<true>();
  #stay: NodeJS.Timeout | undefined;

  /** Runs a function and keeps the handles of what it starts, until `release`. */
  known<Result>(start: () => Result): Result {
    subscribe(CHILD_CHANNEL, this.#childStarts);
    subscribe(SERVER_CHANNEL, this.#serverStarts);
    process.on("worker", this.#threadStarts);
    return this.#starting.run(true, start);
  }

  /** Lets the process end when nothing else is left to do, some seconds after the last use of the runtime. */
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
    // The sender of a request keeps the process alive.
    server.on("connection", (socket) => socket.unref());
  };
  readonly #threadStarts = (thread: Worker): void => {
    if (this.#starting.getStore()) this.#handles.push(thread);
  };
}
