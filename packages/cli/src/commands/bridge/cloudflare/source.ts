import { CliError, EXIT_FAILED, EXIT_NOT_FOUND } from "@sluice/project/errors";
import { PULL_MESSAGES_MAX, RETRIES_DEFAULT } from "@sluice/protocol";
import { plural } from "@sluice/protocol/words";
import { type Patience, patiently } from "../../patience.ts";
import { type Backlog, idOf, type Source, type SourceQueue, type Taken } from "../message.ts";
import { consumerOf, LentConsumer, workerOf } from "./lent-consumer.ts";
import { foreignOf } from "./pulled.ts";
import { type CloudflareQueue, type CloudflareQueues, RefusedRequest } from "./queues-api.ts";
import { linesOf, queueOf, wranglerFlagsOf } from "./settings.ts";

/**
 * Seconds after which an unreadable message can be pulled again, 4 hours. Each pull counts as an attempt. The pull
 * consumer of a move allows 101, which take longer than the longest retention, 14 days.
 */
const POSTPONED_SECONDS = 4 * 3_600;

interface CloudflareSourceOptions {
  readonly name: string;
  readonly leaseMs: number;
  /** Whether a Worker that consumes the queue may be detached during the move. */
  readonly detachConsumer: boolean;
  readonly patience: Patience;
  readonly env: NodeJS.ProcessEnv;
}

/** Opens a queue of an account of Cloudflare. Throws `CliError` where there is none. */
export async function openCloudflareSource(
  api: CloudflareQueues,
  options: CloudflareSourceOptions,
): Promise<Source> {
  const { name, patience } = options;
  const queue = await patiently(patience, () => api.find(name));
  if (queue !== null) return new CloudflareSource(api, queue, options);
  throw new CliError(`The account ${api.account} of Cloudflare has no queue "${name}".`, EXIT_NOT_FOUND);
}

/** A queue of Cloudflare whose messages are pulled. */
class CloudflareSource implements Source {
  readonly #api: CloudflareQueues;
  readonly #queue: CloudflareQueue;
  readonly #options: CloudflareSourceOptions;
  readonly #consumer: LentConsumer;

  constructor(api: CloudflareQueues, queue: CloudflareQueue, options: CloudflareSourceOptions) {
    this.#api = api;
    this.#queue = queue;
    this.#options = options;
    this.#consumer = new LentConsumer(api, queue.queue_id, options.patience, options.env);
  }

  async describe(): Promise<SourceQueue> {
    const { name, detachConsumer } = this.#options;
    const consumer = consumerOf(this.#queue);
    const kept = this.#consumer.keptBehind(consumer);
    const isWorker = consumer?.type === "worker";
    const worker = consumer === null ? "" : workerOf(consumer);
    // A run that was killed has left its pull consumer, and the original one in the file.
    const original = kept === undefined ? consumer : kept;
    const dead = original?.dead_letter_queue;
    const retries = original?.settings?.max_retries ?? RETRIES_DEFAULT;
    const isTheirPull = consumer?.type === "http_pull" && kept === undefined;
    const queue = queueOf(this.#queue, original);
    const made = queue.consumer;
    return {
      place: this.#api.place,
      identity: this.#api.identityOf(this.#queue),
      queue,
      linesOf,
      notCopied: [
        "Attempts: each message begins anew. The pull shows no others than its own.",
        "Event notifications and event subscriptions of the queue: create them on the new one.",
      ],
      notes: [
        ...(made?.type === "worker"
          ? [
              `The Worker "${made.worker}" gets the messages once Sluice runs it (sluice deploy, sluice dev); they wait ` +
                "until then.",
            ]
          : []),
        ...(dead
          ? [`The messages in its dead-letter queue stay: sluice adopt ${dead} --from cloudflare.`]
          : []),
        ...(isTheirPull
          ? [
              "Other clients that pull go on meanwhile, and what they pull is theirs.",
              `A pull of the bridge counts: a message that is pulled and not moved ${plural(retries + 1, "time")} ` +
                `${dead ? `goes to ${dead}` : "is deleted"}.`,
            ]
          : []),
      ],
      steps:
        consumer?.type === "worker"
          ? [
              `take the consumer "${worker}" away from the old queue, and put it back at the end; by hand: npx wrangler ` +
                `queues consumer http remove ${name} && npx wrangler queues consumer add ${name} ${worker}${wranglerFlagsOf(consumer)}`,
            ]
          : consumer === null || kept !== undefined
            ? [
                original === null
                  ? "let the old queue be pulled from: it has no consumer, and has none again at the end"
                  : `let the old queue be pulled from, and put back the consumer "${kept?.script_name}" at the end, which an ` +
                    "earlier run has taken away",
              ]
            : [],
      refusal: this.#refusal(
        isWorker && !detachConsumer ? worker : null,
        isTheirPull && retries === 0 && !dead,
      ),
      backlog: await this.backlog(),
    };
  }

  /**
   * @param worker Worker that consumes the queue and is not detached; `null` for none.
   * @param isLossy whether the pull consumer has no retries, so that a pull whose answer is lost deletes its messages.
   */
  #refusal(worker: string | null, isLossy: boolean): string | null {
    const { name } = this.#options;
    if (this.#queue.settings?.delivery_paused === true) {
      return `Delivery of the old queue is paused, so nothing can be pulled: npx wrangler queues resume-delivery ${name}`;
    }
    if (isLossy) {
      return (
        "The pull consumer of the old queue retries nothing: a message whose pull is lost, or that cannot be read, is " +
        `deleted. Give it retries: npx wrangler queues consumer http remove ${name} && npx wrangler queues ` +
        `consumer http add ${name} --message-retries 100`
      );
    }
    if (worker === null) return null;
    return (
      `The Worker "${worker}" consumes the old queue, and a queue of Cloudflare has one consumer. Either let it go on ` +
      "until the queue is empty, which moves nothing, or have it taken away for the time: --detach-consumer."
    );
  }

  open(): Promise<void> {
    return this.#consumer.take();
  }

  async take(): Promise<Taken[]> {
    const { leaseMs } = this.#options;
    const taken = await this.#pulling(async () => {
      const leasedUntilMs = Date.now() + leaseMs;
      const pulled = await this.#api.pull(this.#queue.queue_id, PULL_MESSAGES_MAX, leaseMs);
      return pulled.map((each) => ({
        handle: each.lease_id,
        id: idOf(each.id),
        message: foreignOf(each),
        leasedUntilMs,
      }));
    });
    const unreadable = taken.flatMap(({ handle, message }) => ("unreadable" in message ? [handle] : []));
    if (unreadable.length > 0) {
      await this.#pulling(() => this.#api.postpone(this.#queue.queue_id, unreadable, POSTPONED_SECONDS));
    }
    return taken;
  }

  async remove(handles: readonly string[]): Promise<ReadonlySet<string>> {
    const ack = () => this.#api.ack(this.#queue.queue_id, handles);
    const withoutEffect = await this.#pulling(ack);
    return new Set(handles.filter((handle) => !withoutEffect.includes(handle)));
  }

  /** Makes a call that needs a pull consumer. Throws `CliError` where the queue has lost it. */
  async #pulling<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await patiently(this.#options.patience, call);
    } catch (error) {
      const consumer = error instanceof RefusedRequest ? await this.#consumer.replaced() : undefined;
      if (consumer === undefined) throw error;
      const what =
        consumer === null ? "taken its consumer away" : `given it the consumer "${workerOf(consumer)}" back`;
      throw new CliError(
        `The old queue cannot be pulled from any more: another "sluice adopt", or a person, has ${what}. ` +
          "The same command goes on.",
        EXIT_FAILED,
      );
    }
  }

  async backlog(): Promise<Backlog> {
    const waiting = await patiently(this.#options.patience, () => this.#api.backlog(this.#queue.queue_id));
    return { waiting, inFlight: null, delayed: null };
  }

  close(): Promise<void> {
    return this.#consumer.giveBack();
  }
}
