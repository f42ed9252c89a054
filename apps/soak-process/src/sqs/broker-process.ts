import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { untilGone, workerdChildren } from "../cluster/workerd-process.ts";

/** Longest that a start may take on a busy machine, in ms. */
const STARTED_MS_MAX = 60_000;
const LOOK_AGAIN_MS = 5;

export interface BrokerProcessOptions {
  /** Entry of the command. */
  readonly main: string;
  readonly port: number;
  /** Where everything is kept. Another process started on it goes on with what is there. */
  readonly persistDir: string;
  /** Folder to run in, which has no configuration. */
  readonly folder: string;
  /** Folder of a Worker: with one the broker runs on workerd, without one in the command's own process. */
  readonly worker?: string;
}

/** How a process ended that was not killed. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A life of `sluice serve`. */
export class BrokerProcess {
  /** Where AWS's clients post to. */
  readonly endpoint: string;
  readonly #url: string;
  readonly #child: ChildProcess;
  readonly #closed: Promise<Ended>;
  #printed = "";
  #ended: Ended | null = null;
  #pids: readonly number[] = [];

  /** Resolves when requests are answered. Rejects with what it has printed if it ends instead. */
  static async start(options: BrokerProcessOptions): Promise<BrokerProcess> {
    const life = new BrokerProcess(options);
    await life.#started();
    return life;
  }

  private constructor({ main, port, persistDir, folder, worker }: BrokerProcessOptions) {
    this.#url = `http://127.0.0.1:${port}`;
    this.endpoint = `${this.#url}/__sluice/aws/`;
    const args = [main, "serve", ...(worker === undefined ? [] : [worker])];
    this.#child = spawn(process.execPath, [...args, "--port", `${port}`, "--persist-to", persistDir], {
      cwd: folder,
      env: { ...process.env, CI: "1", NO_COLOR: "1", WRANGLER_SEND_METRICS: "false" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        this.#printed += text;
      });
    }
    this.#closed = once(this.#child, "close").then(([code, signal]) => {
      this.#ended = { code, signal };
      return this.#ended;
    });
  }

  /** Lines that it has printed. */
  get lines(): readonly string[] {
    return this.#printed.split("\n");
  }

  /** `null` while it runs. */
  get ended(): Ended | null {
    return this.#ended;
  }

  get pid(): number {
    if (this.#child.pid === undefined) throw new Error("the command did not start");
    return this.#child.pid;
  }

  /** What the admin API answers to a GET. */
  async admin(path: string): Promise<unknown> {
    const response = await fetch(`${this.#url}/__sluice/api/${path}`);
    if (!response.ok) throw new Error(`the admin API answered ${response.status}: ${await response.text()}`);
    return response.json();
  }

  /** kill -9 of it and what it has started; resolves when nothing of it is left. */
  async kill(): Promise<void> {
    for (const pid of [this.pid, ...this.#pids]) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It is gone already.
      }
    }
    await untilGone([this.pid, ...this.#pids]);
    await this.#closed;
  }

  /** SIGINT, as Ctrl+C. */
  stop(): Promise<Ended> {
    this.#child.kill("SIGINT");
    return this.#closed;
  }

  /** SIGSTOP: the process gets no time until `thaw`. */
  freeze(): void {
    this.#child.kill("SIGSTOP");
  }

  thaw(): void {
    this.#child.kill("SIGCONT");
  }

  async #started(): Promise<void> {
    const deadlineMs = Date.now() + STARTED_MS_MAX;
    // Printed last but one, once it listens.
    while (!/^data {4}/m.test(this.#printed)) {
      if (this.#ended !== null) {
        throw new Error(`it ended with ${this.#ended.code ?? this.#ended.signal}:\n${this.#printed}`);
      }
      if (Date.now() > deadlineMs) {
        await this.kill();
        throw new Error(`it did not start:\n${this.#printed}`);
      }
      await sleep(LOOK_AGAIN_MS);
    }
    this.#pids = await workerdChildren(new Set(), this.pid);
  }
}
