import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { processesFolder } from "@sluice/local/processes/registry";
import { type Patience, patiently } from "../../patience.ts";
import type { CloudflareConsumer, CloudflareQueue, CloudflareQueues, NewConsumer } from "./queues-api.ts";

/** Most retries that a pull consumer can have: a bridge that is stopped uses them up. */
const RETRIES_MAX = 100;

/**
 * The consumer of a Cloudflare queue, in whose place a pull consumer is put for a while. A file in the home keeps the
 * consumer that was there, so that a run after a kill puts it back. A contract: a later release may read it.
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

  /** The consumer that an earlier run has taken away; `undefined` for no such run, `null` where there was none. */
  get kept(): NewConsumer | null | undefined {
    if (!existsSync(this.#file)) return undefined;
    return (JSON.parse(readFileSync(this.#file, "utf8")) as { consumer: NewConsumer | null }).consumer;
  }

  /**
   * The consumer that an earlier run has taken away, as `kept`, while the queue has the pull consumer of that run, or
   * none. With any other consumer the file is of a run that no longer matters.
   */
  keptBehind(consumer: CloudflareConsumer | null): NewConsumer | null | undefined {
    return consumer === null || isLent(consumer) ? this.kept : undefined;
  }

  /** Puts a pull consumer into the place of what is there, unless it is one. */
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

  /** The consumer that the queue has in place of a pull consumer; `undefined` while it can be pulled from. */
  async replaced(): Promise<CloudflareConsumer | null | undefined> {
    const consumer = consumerOf(await patiently(this.#patience, () => this.#api.get(this.#id)));
    return consumer?.type === "http_pull" ? undefined : consumer;
  }

  /** Puts back what was there, unless somebody has given the queue another consumer meanwhile: that stays. */
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

/** Whether a consumer is the one that `take` adds, by its settings: a kill may keep its id from being stored. */
function isLent({ type, dead_letter_queue: dead, settings = {} }: CloudflareConsumer): boolean {
  return type === "http_pull" && !dead && (settings.max_retries ?? RETRIES_MAX) === RETRIES_MAX;
}

/** The consumer that gets the messages of a queue: a Worker, or clients that pull. */
export function consumerOf({ consumers = [] }: CloudflareQueue): CloudflareConsumer | null {
  return consumers.find(({ type }) => type === "worker" || type === "http_pull") ?? null;
}

/** Name of the Worker of a consumer. */
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
