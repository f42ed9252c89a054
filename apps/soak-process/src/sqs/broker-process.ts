import { setTimeout as sleep } from "node:timers/promises";
import { type Child, startChild } from "@sluice/harness/child";
import { environmentIn } from "@sluice/harness/environment";
import { type QueueFigures, queueFigures } from "../cluster/queue-figures.ts";
import { untilGone, workerdChildren } from "../cluster/workerd-process.ts";

/** Time between two looks whether it has started, in ms: epochs are short. */
const LOOK_AGAIN_MS = 5;
/** Time and level that a line of the log begins with. */
const LOGGED = /^\d{4}-\S+Z \w+ +/;

export interface BrokerOptions {
  /** Entry of the command. */
  readonly main: string;
  readonly port: number;
  /** Folder for all state. Another process that is started on it goes on with that. */
  readonly persistDir: string;
  /** Folder to run in, whose configuration there may be. */
  readonly folder: string;
  /** Further variables of its environment. Default: none. */
  readonly env?: Readonly<Record<string, string>>;
  /** Folder of a Worker: with one the broker runs on workerd, without one in the command's own process. */
  readonly worker?: string;
  /** Program that starts it, with its arguments, and becomes it. Default: none. */
  readonly under?: readonly string[];
}

/** One start of `sluice serve`. */
export class BrokerProcess {
  /** Endpoint for AWS's clients. */
  readonly endpoint: string;
  readonly #url: string;
  readonly #child: Child;
  #pids: readonly number[] = [];

  /** Resolves when requests are answered. Rejects with what it has printed if it ends instead. */
  static async start(options: BrokerOptions): Promise<BrokerProcess> {
    const epoch = new BrokerProcess(options);
    try {
      // Printed last but one, once it listens.
      await epoch.#child.ready(() => /^data {4}/m.test(epoch.#child.output));
    } catch (error) {
      await epoch.kill();
      throw error;
    }
    epoch.#pids = await workerdChildren(epoch.pid);
    return epoch;
  }

  /** Starts it and kills it so many ms later, though it may not answer by then. */
  static async startInVain(options: BrokerOptions, ms: number): Promise<BrokerProcess> {
    const epoch = new BrokerProcess(options);
    await sleep(ms);
    await epoch.kill();
    return epoch;
  }

  private constructor({ main, port, persistDir, folder, env, worker, under = [] }: BrokerOptions) {
    this.#url = `http://127.0.0.1:${port}`;
    this.endpoint = `${this.#url}/__sluice/aws/`;
    const more = ["--port", `${port}`, "--persist-to", persistDir];
    const command = [...under, process.execPath, main, "serve", ...(worker === undefined ? [] : [worker])];
    const [program = "", ...args] = [...command, ...more];
    this.#child = startChild(program, args, {
      cwd: folder,
      env: { ...environmentIn(folder), ...env },
      pollMs: LOOK_AGAIN_MS,
    });
  }

  /** Lines that it has printed, without their time and level. */
  get lines(): readonly string[] {
    return this.#child.output.split("\n").map((line) => line.replace(LOGGED, ""));
  }

  /** How it ended; `null` while it runs. */
  get ended(): Child["ended"] {
    return this.#child.ended;
  }

  get pid(): number {
    return this.#child.pid;
  }

  /** Every queue as the admin API shows it. */
  queues(): Promise<QueueFigures[]> {
    return queueFigures((path) => fetch(new URL(path, this.#url)));
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
    await this.#child.whenEnded();
  }

  /** Stops it by SIGINT, as Ctrl+C does, and answers with how it ended. */
  async stop(): Promise<Child["ended"]> {
    this.#child.process.kill("SIGINT");
    await this.#child.whenEnded();
    return this.ended;
  }
}
