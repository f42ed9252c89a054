import { setTimeout as sleep } from "node:timers/promises";
import { type Child, startChild } from "@sluice/harness/child";
import { environmentIn } from "@sluice/harness/environment";
import { type QueueFigures, queueFigures } from "../cluster/queue-figures.ts";
import { untilGone, workerdChildren } from "../cluster/workerd-process.ts";

/** Time between two checks whether the broker has started, in ms. Short, since many run for seconds only. */
const LOOK_AGAIN_MS = 5;
/** Time and level at the beginning of a line of the log. */
const LOGGED = /^\d{4}-\S+Z \w+ +/;

export interface BrokerOptions {
  /** Entry of the command. */
  readonly main: string;
  readonly port: number;
  /** Data folder. A later process with the same one goes on with its data. */
  readonly persistDir: string;
  /** Working folder. Its `wrangler.toml` is read if there is one. */
  readonly folder: string;
  /** Further variables of its environment. Default: none. */
  readonly env?: Readonly<Record<string, string>>;
  /** Folder of a Worker, for a broker on workerd. Default: none, for a broker in the command's own process. */
  readonly worker?: string;
  /** Program with its arguments that becomes the broker, such as `strace -D`. Default: none. */
  readonly under?: readonly string[];
}

/** One process of `sluice serve`. */
export class BrokerProcess {
  /** Endpoint for AWS's clients. */
  readonly endpoint: string;
  readonly #url: string;
  readonly #child: Child;
  /** The workerd processes that it had when it was ready. */
  #workerds: readonly number[] = [];

  /** Resolves when requests are answered. Rejects with what the process has printed if it ends or is too slow. */
  static async start(options: BrokerOptions): Promise<BrokerProcess> {
    const broker = new BrokerProcess(options);
    try {
      // It prints the name of its data folder once it listens.
      await broker.#child.ready(() => /^data {4}/m.test(broker.#child.output));
    } catch (error) {
      await broker.kill();
      throw error;
    }
    broker.#workerds = await workerdChildren(broker.pid);
    return broker;
  }

  /** Starts a broker and kills it after a time in ms, whether it answers by then or not. */
  static async startInVain(options: BrokerOptions, ms: number): Promise<BrokerProcess> {
    const broker = new BrokerProcess(options);
    await sleep(ms);
    await broker.kill();
    return broker;
  }

  private constructor({ main, port, persistDir, folder, env, worker, under = [] }: BrokerOptions) {
    this.#url = `http://127.0.0.1:${port}`;
    this.endpoint = `${this.#url}/__sluice/aws/`;
    const serve = [process.execPath, main, "serve", ...(worker === undefined ? [] : [worker])];
    const [program = "", ...args] = [...under, ...serve, "--port", `${port}`, "--persist-to", persistDir];
    this.#child = startChild(program, args, {
      cwd: folder,
      env: { ...environmentIn(folder), ...env },
      pollMs: LOOK_AGAIN_MS,
    });
  }

  /** Lines that the broker has printed, without their time and level. */
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

  /** Kills the broker and its workerd by SIGKILL. Resolves when they are gone. */
  async kill(): Promise<void> {
    // One that is not ready yet may have a workerd too.
    const workerds = new Set([...this.#workerds, ...(await workerdChildren(this.pid))]);
    // A process that could not be started has no id, and 0 is the group of this one.
    const pids = [this.pid, ...workerds].filter((pid) => pid !== 0);
    for (const pid of pids) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It is gone already.
      }
    }
    await untilGone(pids);
    await this.#child.whenEnded();
  }

  /** Stops it by SIGINT, as Ctrl+C does. Resolves to how it ended. */
  async stop(): Promise<Child["ended"]> {
    this.#child.process.kill("SIGINT");
    await this.#child.whenEnded();
    return this.ended;
  }
}
