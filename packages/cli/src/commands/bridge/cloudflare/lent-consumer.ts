import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { processesFolder } from "@sluice/local/processes/registry";
import { type Patience, patiently } from "../../patience.ts";
import type { CloudflareConsumer, CloudflareQueue, CloudflareQueues, NewConsumer } from "./queues-api.ts";

/** Most retries that a pull consumer can have: each run that is stopped uses one up for the messages that it holds. */
const RETRIES_MAX = 100;

/**
 * Replaces the consumer of a Cloudflare queue by a pull consumer during a move. A file in the home folder keeps the
 * replaced consumer, so that the next run puts it back if this one is killed. A contract: a later release may read it.
 */
export class LentConsumer {
  readonly #api: CloudflareQueues;
  readonly #id: string;
  readonly #patience: Patience;
  readonly #file: string;

  constructor(api: CloudflareQueues, id: string, patience: Patience, env: NodeJS.ProcessEnv) {
    this.#api = api;
    this.#id = id;
    this.#patience = patience;
    this.#file = join(processesFolder(env, "adopt", ".sluice-adopt"), `${api.account}-${id}.json`);
  }

  /** Consumer that `take` has replaced, in any run; `null` for a queue without one, `undefined` for no such run. */
  get kept(): NewConsumer | null | undefined {
    if (!existsSync(this.#file)) return undefined;
    return (JSON.parse(readFileSync(this.#file, "utf8")) as { consumer: NewConsumer | null }).consumer;
  }

  /**
   * Returns `kept` while the queue has no consumer, or the pull consumer of an earlier run. With any other consumer the
   * file is out of date, and the result `undefined`.
   */
  keptBehind(consumer: CloudflareConsumer | null): NewConsumer | null | undefined {
    return consumer === null || isLent(consumer) ? this.kept : undefined;
  }

  /** Replaces the queue's consumer by a pull consumer, unless it is one. */
  async take(): Promise<void> {
    await patiently(this.#patience, async () => {
      const consumer = consumerOf(await this.#api.get(this.#id));
      if (consumer?.type === "http_pull") return;
      if (consumer !== null) this.#keep(newConsumer(consumer));
      else if (this.kept === undefined) this.#keep(null);
      if (consumer !== null) await this.#api.removeConsumer(this.#id, consumer.consumer_id);
      await this.#api.addConsumer(this.#id, { type: "http_pull", settings: { max_retries: RETRIES_MAX } });
    });
  }

  /** Returns the consumer that the queue has instead of a pull consumer; `undefined` while it has a pull consumer. */
  async replaced(): Promise<CloudflareConsumer | null | undefined> {
    const consumer = consumerOf(await patiently(this.#patience, () => this.#api.get(this.#id)));
    return consumer?.type === "http_pull" ? undefined : consumer;
  }

  /** Puts the replaced consumer back, unless the queue was given another one meanwhile, which stays. */
  async giveBack(): Promise<void> {
    const { kept } = this;
    if (kept === undefined) return;
    await patiently(this.#patience, async () => {
      const consumer = consumerOf(await this.#api.get(this.#id));
      const isBack = kept === null ? consumer === null : consumer?.type === kept.type;
      if (isBack) return;
      if (consumer !== null && !isLent(consumer)) {
        const worker = kept?.script_name;
        const away =
          worker === undefined ? "" : ` The Worker "${worker}", which was taken away, is not put back.`;
        this.#patience.note(`The old queue has got another consumer meanwhile, which stays.${away}`);
        return;
      }
      if (consumer !== null) await this.#api.removeConsumer(this.#id, consumer.consumer_id);
      if (kept !== null) await this.#api.addConsumer(this.#id, kept);
    });
    rmSync(this.#file, { force: true });
  }

  #keep(consumer: NewConsumer | null): void {
    mkdirSync(dirname(this.#file), { recursive: true, mode: 0o700 });
    writeFileSync(this.#file, JSON.stringify({ consumer }), { mode: 0o600 });
  }
}

/** Whether a consumer is the one that `take` adds. Its settings tell, since its id may not have been stored. */
function isLent({ type, dead_letter_queue: dead, settings = {} }: CloudflareConsumer): boolean {
  return type === "http_pull" && !dead && (settings.max_retries ?? RETRIES_MAX) === RETRIES_MAX;
}

/** Finds the consumer of a queue that gets its messages: a Worker, or pull clients. */
export function consumerOf({ consumers = [] }: CloudflareQueue): CloudflareConsumer | null {
  return consumers.find(({ type }) => type === "worker" || type === "http_pull") ?? null;
}

/** Returns the name of a consumer's Worker; empty for other consumers. */
export function workerOf({ script, script_name, service }: CloudflareConsumer): string {
  return script ?? script_name ?? service ?? "";
}

function newConsumer(consumer: CloudflareConsumer): NewConsumer {
  const { type, dead_letter_queue: dead, settings = {} } = consumer;
  return {
    type,
    ...(type === "worker" ? { script_name: workerOf(consumer) } : {}),
    ...(dead ? { dead_letter_queue: dead } : {}),
    settings: Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== null)),
  };
}
