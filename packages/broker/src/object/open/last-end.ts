import { type LastEnd, lastEndFrom, UNPLANNED } from "@sluice/protocol";
import type { BrokerEnv } from "../broker-env.ts";

/** Longest wait for the answer of the URL in `SLUICE_LAST_END`, in ms. */
export const LAST_END_MS_MAX = 2_000;

/**
 * Longest random delay of messages in delivery when the process ended that Workers and broker share, in ms. One of them
 * may have ended it. If all queues delivered again at the same moment, that message would cut off the others each time,
 * until all of them had used up their attempts.
 */
export const APART_MS_MAX = 5_000;

/** Ends before an epoch of a queue, as far as they are known. */
export interface KnownEnds {
  /** How the epoch before has ended. */
  readonly ofEpoch: LastEnd;
  /** How the process before has ended. After a crash Workers may begin one after the other. */
  readonly ofProcess: LastEnd;
  /** Since when that is known in this process, in ms. */
  readonly sinceMs: number;
}

/** Variables of the broker that tell how an epoch has ended. */
type Env = Pick<BrokerEnv, "SLUICE_ENV" | "SLUICE_LAST_END" | "SLUICE_VERSION">;

/**
 * Tells how a queue's object has ended. No code of an object runs at its end, so the next epoch has to find out:
 *
 * - on a machine of one's own, from the process that runs the broker (`SLUICE_LAST_END`);
 * - deployed, by its version: Cloudflare resets objects when their code is updated.
 *
 * Any other end counts as a crash, also an unknown one. One instance serves all queues of an isolate.
 */
export class LastEnds {
  readonly #fetch: (url: string) => Promise<string>;
  readonly #random: () => number;
  /** Queues that had an epoch in this isolate: the end of an earlier process did not end that epoch. */
  readonly #begun = new Set<string>();
  #ofProcess: Promise<LastEnd> | undefined;
  #sinceMs = 0;

  /**
   * @param ask returns the text at a URL. Default: `fetch`.
   * @param random returns a number from 0 up to, not including, 1. Default: `Math.random`.
   */
  constructor(ask: (url: string) => Promise<string> = textAt, random: () => number = Math.random) {
    this.#fetch = ask;
    this.#random = random;
  }

  /** Draws how long cut-off messages of a queue wait if that delivery counts, in ms: below `APART_MS_MAX`, or 0. */
  delayMs(queue: string, { SLUICE_LAST_END }: Env): number {
    const wasProcessEnd = SLUICE_LAST_END !== undefined && !this.#begun.has(queue);
    return wasProcessEnd ? Math.floor(this.#random() * APART_MS_MAX) : 0;
  }

  /**
   * Tells how a queue's epoch before this one has ended, and its process.
   *
   * @param version that of the epoch before, `null` for one that had none.
   */
  async of(queue: string, env: Env, version: string | null, nowMs: number): Promise<KnownEnds> {
    const wasBegun = this.#begun.has(queue);
    if (this.#ofProcess === undefined) this.#sinceMs = nowMs;
    this.#ofProcess ??= this.#ask(env.SLUICE_LAST_END ?? "");
    const ofProcess = await this.#ofProcess;
    const ofEpoch: LastEnd = isUpdate(env, version) ? { kind: "planned" } : wasBegun ? UNPLANNED : ofProcess;
    return { ofEpoch, ofProcess, sinceMs: this.#sinceMs };
  }

  /** Notes that an epoch of the queue has begun. */
  begun(queue: string): void {
    this.#begun.add(queue);
  }

  async #ask(textOrUrl: string): Promise<LastEnd> {
    if (!textOrUrl.startsWith("http:")) return lastEndFrom(textOrUrl);
    try {
      return lastEndFrom(await this.#fetch(textOrUrl));
    } catch (error) {
      console.warn(
        `How the broker ended last cannot be found out, so deliveries that were cut off count as attempts: ${error}`,
      );
      return UNPLANNED;
    }
  }
}

/** Whether the code was updated. In development every start has a version of its own, which says nothing. */
function isUpdate({ SLUICE_ENV, SLUICE_VERSION: current }: Env, version: string | null): boolean {
  return SLUICE_ENV === undefined && current !== undefined && version !== null && version !== current.id;
}

async function textAt(url: string): Promise<string> {
  const response = await fetch(url, { signal: AbortSignal.timeout(LAST_END_MS_MAX) });
  return response.text();
}
