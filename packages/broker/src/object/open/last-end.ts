import { type LastEnd, lastEndFrom, UNPLANNED } from "@sluice/protocol";
import type { BrokerEnv } from "../broker-env.ts";

/** Longest that whoever ended the process before may take to say how, in ms. */
export const LAST_END_MS_MAX = 2_000;

/**
 * Where Workers and broker share a process, messages that its end has cut off wait for a while of their queue's own
 * before they are delivered again, in ms at most. One of them may be why it ended. If all came again at the same
 * moment, that one would cut the others off again each time, until all of them had used up their attempts.
 */
export const APART_MS_MAX = 5_000;

/** Ends before an epoch of a queue, as far as they are known. */
export interface KnownEnds {
  /** How the epoch before has ended. */
  readonly ofEpoch: LastEnd;
  /** How the process before has ended, whose Workers may have to begin one after the other. */
  readonly ofProcess: LastEnd;
  /** Since when that is known in this process, in ms. */
  readonly sinceMs: number;
}

/** Variables of the broker that tell how an epoch has ended. */
type Env = Pick<BrokerEnv, "SLUICE_ENV" | "SLUICE_LAST_END" | "SLUICE_VERSION">;

/**
 * Tells how a queue's object has ended. No code of an object runs at its end, so
 * the next epoch has to find out:
 *
 * - on a machine of one's own, from whoever ended the process (`SLUICE_LAST_END`);
 * - deployed, by its version: Cloudflare resets objects when their code is updated.
 *
 * Any other end counts as a crash, also one that nobody knows anything of. One for all queues of an isolate.
 */
export class LastEnds {
  readonly #fetch: (url: string) => Promise<string>;
  readonly #random: () => number;
  /** Queues with an epoch that began in this isolate: a process that ended before it did not end that one. */
  readonly #begun = new Set<string>();
  #ofProcess: Promise<LastEnd> | undefined;
  #sinceMs = 0;

  /**
   * @param ask what a URL answers. Default: `fetch`.
   * @param random from 0 up to 1, without it. Default: `Math.random`.
   */
  constructor(ask: (url: string) => Promise<string> = textAt, random: () => number = Math.random) {
    this.#fetch = ask;
    this.#random = random;
  }

  /** How long messages of a queue wait that an end has cut off which counts, in ms: `APART_MS_MAX`. */
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

  /** An epoch of the queue has begun. */
  begun(queue: string): void {
    this.#begun.add(queue);
  }

  async #ask(said: string): Promise<LastEnd> {
    if (!said.startsWith("http:")) return lastEndFrom(said);
    try {
      return lastEndFrom(await this.#fetch(said));
    } catch (error) {
      console.warn(
        `How the broker ended last cannot be found out, so deliveries that were cut off count as attempts: ${error}`,
      );
      return UNPLANNED;
    }
  }
}

/** In development every start has a version of its own. */
function isUpdate({ SLUICE_ENV, SLUICE_VERSION: current }: Env, version: string | null): boolean {
  return SLUICE_ENV === undefined && current !== undefined && version !== null && version !== current.id;
}

async function textAt(url: string): Promise<string> {
  const response = await fetch(url, { signal: AbortSignal.timeout(LAST_END_MS_MAX) });
  return response.text();
}
