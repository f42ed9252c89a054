import type { ProducerBroker } from "@sluice/producer";
import { BROKER_CLASS, QUEUES_BINDING } from "@sluice/project/names";
import { registryFolder } from "@sluice/project/wrangler/registry";
import type { Miniflare, V4WorkerOptions } from "miniflare";
import { type MiniflareRun, restartMiniflare, startMiniflare } from "../workerd/start-miniflare.ts";

/** Durable Objects of the queues, as this process calls them. */
export interface Queues {
  getByName(queue: string): ProducerBroker;
}

export interface LinkRuntimeOptions {
  /** Name of the broker's Worker. */
  readonly broker: string;
  /** The broker's Worker; `null` for a broker that another process runs. */
  readonly own: V4WorkerOptions | null;
  /** Folder of all persisted data. Absolute. */
  readonly resources: string;
}

const COMPATIBILITY_DATE = "2026-01-01";

/** A workerd by which this process calls a broker: its own, or another process's by Miniflare's dev registry. */
export class LinkRuntime {
  readonly #name: string;
  #miniflare: Miniflare | null = null;
  #queues: Queues | null = null;

  constructor() {
    this.#name = `sluice-proxy-${process.pid}-${count++}`;
  }

  /** @throws Error while no workerd runs. */
  get queues(): Queues {
    if (this.#queues === null) throw new Error("the broker has been ended");
    return this.#queues;
  }

  /** Starts workerd, or restarts it with other options. */
  async run({ broker, own, resources }: LinkRuntimeOptions): Promise<void> {
    const client: V4WorkerOptions = {
      name: this.#name,
      modules: true,
      script: "export default { fetch: () => new Response(null, { status: 404 }) };",
      compatibilityDate: COMPATIBILITY_DATE,
      durableObjects: { [QUEUES_BINDING]: { className: BROKER_CLASS, scriptName: broker } },
    };
    const workers = [client, ...(own === null ? [] : [own])];
    const how: MiniflareRun = {
      resources,
      print: (text, level) => {
        if (level === "error" || level === "warn") process.stderr.write(`${text}\n`);
      },
      more: { unsafeDevRegistryPath: registryFolder(process.env) },
    };
    this.#queues = null;
    if (this.#miniflare === null) this.#miniflare = startMiniflare(workers, how);
    else await restartMiniflare(this.#miniflare, workers, how);
    const bindings = await this.#miniflare.getBindings<Record<string, Queues>>(this.#name);
    this.#queues = bindings[QUEUES_BINDING] ?? null;
  }

  /** Returns the URL of this process's broker; `null` while no workerd runs. */
  async brokerUrl(broker: string): Promise<string | null> {
    return (await this.#miniflare?.unsafeGetDirectURL(broker))?.origin ?? null;
  }

  async end(): Promise<void> {
    const miniflare = this.#miniflare;
    this.#miniflare = null;
    this.#queues = null;
    await miniflare?.dispose();
  }
}

let count = 0;
