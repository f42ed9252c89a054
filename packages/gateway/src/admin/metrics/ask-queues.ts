import type { QueueDescription, QueueRecord } from "@sluice/protocol";
import type { QueueDirectory } from "../../account/queue-directory.ts";

/** Queues that are asked at the same time. */
export const ASKED_AT_ONCE = 100;
/** How long queues are asked for, in ms: Prometheus waits for 10 s unless it is told otherwise. */
export const ASKED_MS_MAX = 8_000;

/**
 * State of a queue, as far as it is known.
 *
 * - `asleep`: it has come to rest, and says nothing else than when it did. It was not woken for this.
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

/** How queues are, by what they said when they came to rest and by asking the others. */
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

  /** Time begins to run. `end` it. */
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

  /** Describes a queue, as far as it is known; its object is asked if it is not at rest. */
  async describe(queue: string): Promise<QueueDescription> {
    return this.#atRest.get(queue)?.description ?? this.#directory.describe(queue);
  }

  /** How queues are, and those for whom there was no time left. */
  async ask(records: readonly QueueRecord[]): Promise<{ asked: AskedQueue[]; leftOut: QueueRecord[] }> {
    const asked: AskedQueue[] = [];
    const awake: QueueRecord[] = [];
    for (const record of records) {
      const rest = this.#atRest.get(record.name);
      // One that was created anew under the name has said nothing yet.
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

  /** One queue that fails keeps nobody from seeing that it does, nor how the others are. */
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
