import { indented, plural } from "@sluice/protocol/words";
import type { LineSink } from "./log.ts";

/** Shortest time between two lines that say the same of queues, in ms. */
export const SAME_LINE_EVERY_MS = 1_000;

/** Parts of a queue's host that its lines need. */
interface Speaker {
  readonly log: Pick<LineSink, "warn">;
  systemMs(): number;
  after(callback: () => void, ms: number): unknown;
}

/** Queues of which a line has not been printed yet. */
interface Waiting {
  /** When the line was printed last. */
  printedMs: number;
  /** Each with its reason. */
  readonly queues: Map<string, string>;
}

/**
 * Log of what befalls many queues at once: a directory that is busy answers none of them. The first line is printed at
 * once. Further queues with the same text are counted in one line a second, whatever their reasons: Cloudflare puts a
 * number into each. One instance serves all queues of an isolate.
 */
export class ManyQueuesLog {
  readonly #waiting = new Map<string, Waiting>();

  /** Logs `text` of a queue, and the reason for it behind a colon. */
  warn(queue: string, text: string, reason: string, speaker: Speaker): void {
    const nowMs = speaker.systemMs();
    // The timer of an object that has ended rings no more.
    for (const [each, { printedMs }] of this.#waiting) {
      if (nowMs - printedMs >= SAME_LINE_EVERY_MS) this.#print(each, speaker);
    }
    const waiting = this.#waiting.get(text);
    if (waiting === undefined) {
      this.#waiting.set(text, { printedMs: nowMs, queues: new Map() });
      speaker.log.warn(indented(`Queue "${queue}": ${text}: ${reason}`));
      return;
    }
    if (waiting.queues.size === 0) {
      speaker.after(() => this.#print(text, speaker), waiting.printedMs + SAME_LINE_EVERY_MS - nowMs);
    }
    waiting.queues.set(queue, reason);
  }

  /** Prints the line of those that wait for it; forgets a text that none waits for. */
  #print(text: string, speaker: Speaker): void {
    const waiting = this.#waiting.get(text);
    const [first, ...others] = waiting?.queues ?? [];
    if (waiting === undefined || first === undefined) {
      this.#waiting.delete(text);
      return;
    }
    const [queue, reason] = first;
    const more = others.length === 0 ? "" : ` and ${plural(others.length, "more queue")}`;
    const hasOthers = others.some(([, other]) => other !== reason);
    speaker.log.warn(
      indented(`Queue "${queue}"${more}: ${text}: ${reason}${hasOthers ? ", and other reasons" : ""}`),
    );
    waiting.printedMs = speaker.systemMs();
    waiting.queues.clear();
  }
}
