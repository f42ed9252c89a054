import type { QueueDescription, QueueRecord } from "@sluice/protocol";
import type { QueueDirectory } from "../../account/queue-directory.ts";

/** Queues that are asked at the same time. */
export const ASKED_AT_ONCE = 100;
/** How long queues are asked, in ms: Prometheus waits for 10 s by default. */
export const ASKED_MS_MAX = 8_000;

/**
 * State of a queue, as far as it is known.
 *
 * - `asleep`: it has come to rest, and its description of then still holds. It was not woken for this.
 * - `awake`: what its object says now.
 * - `silent`: its object did not answer.
 */
export type AskedQueue =
  | {
      readonly kind: "asleep" | "awake";
      readonly record: QueueRecord;
      readonly description: QueueDescription;
    }
  | { readonly kind: "silent"; readonly record: QueueRecord };

/** Describes queues within a time: one at rest by its last description, any other by a call to its object. */
export class QueueFigures {
  readonly #directory: QueueDirectory;
  readonly #atRest: Map<string, { readonly queueId: string; readonly description: QueueDescription }>;
  readonly #deadline: Promise<never>;
  readonly #timer: ReturnType<typeof setTimeout>;
  #isLate = false;

  private constructor(
    directory: QueueDirectory,
    atRest: Awaited<ReturnType<typeof directory.account.atRest>>,
  ) {
    this.#directory = directory;
    this.#atRest = new Map(atRest.map((one) => [one.description.queue, one]));
    const { promise, reject } = Promise.withResolvers<never>();
    this.#deadline = promise;
    this.#deadline.catch(() => {});
    this.#timer = setTimeout(() => {
      this.#isLate = true;
      reject(new Error(`no answer within ${ASKED_MS_MAX / 1_000} s`));
    }, ASKED_MS_MAX);
  }

  /** Reads which queues are at rest, and starts the time of `ASKED_MS_MAX`. Call `end` afterwards. */
  static async begin(directory: QueueDirectory): Promise<QueueFigures> {
    return new QueueFigures(directory, await directory.account.atRest());
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  /** Rejects when time is up. */
  inTime<Result>(work: Promise<Result>): Promise<Result> {
    return Promise.race([work, this.#deadline]);
  }

  /** Describes a queue by its last description if it is at rest, else by a call to its object. */
  async describe(queue: string): Promise<QueueDescription> {
    return this.#atRest.get(queue)?.description ?? this.#directory.describe(queue);
  }

  /** Describes queues, and lists those for which no time was left. */
  async ask(records: readonly QueueRecord[]): Promise<{ asked: AskedQueue[]; leftOut: QueueRecord[] }> {
    const asked: AskedQueue[] = [];
    const awake: QueueRecord[] = [];
    for (const record of records) {
      const rest = this.#atRest.get(record.name);
      // A queue that was created anew under the name has no description yet.
      if (rest?.queueId !== record.queueId) awake.push(record);
      else asked.push({ kind: "asleep", record, description: rest.description });
    }
    const waiting = awake.values();
    const askOneByOne = async () => {
      while (!this.#isLate) {
        const { value: record } = waiting.next();
        if (record === undefined) return;
        asked.push(await this.#askOne(record));
      }
    };
    await Promise.all(Array.from({ length: ASKED_AT_ONCE }, askOneByOne));
    return { asked: asked.sort((a, b) => compareNames(a.record, b.record)), leftOut: [...waiting] };
  }

  /** Asks one queue. Its failure becomes a result, so that the others are still shown. */
  async #askOne(record: QueueRecord): Promise<AskedQueue> {
    try {
      const description = await this.inTime(this.#directory.describe(record.name));
      return { kind: "awake", record, description };
    } catch (error) {
      console.error(`Queue "${record.name}" did not answer for its metrics: ${error}`);
      return { kind: "silent", record };
    }
  }
}

function compareNames(a: QueueRecord, b: QueueRecord): number {
  return a.name < b.name ? -1 : 1;
}
