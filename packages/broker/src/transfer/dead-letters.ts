import { giveUp, type LeasedRange, type Slice } from "@sluice/engine";
import { changeRecord, isReadable, type MessageExtension, type PackedIndex } from "@sluice/protocol";
import { canBeDeadLetter, deadLetterAttributes } from "@sluice/sns";
import { withEnd } from "../history/past.ts";
import type { QueueContext } from "../turn/context.ts";
import { deadLetterQueueOf, isForNotifications, isForWorkerDaemon } from "../turn/rules.ts";
import type { Outbox } from "./outbox.ts";

/** Bytes of messages after which a turn dead-letters no further one, since all of them are in memory at a time. */
export const DEAD_BYTES_MAX = 8_000_000;

/** Most dead letters of one event of the history, so that its row stays small. */
const LETTERS_PER_EVENT_MAX = 100;

/** Dead message. */
interface DeadLetter {
  /** Its position in the segment. */
  readonly position: number;
  readonly id: string;
  /** Record for the dead-letter queue; `null` for a message that never goes to one. */
  readonly packed: Uint8Array | null;
}

/** End of dead messages, as the history notes it. */
interface NotedEnd {
  readonly target: string | null;
  readonly error: string;
  readonly by: string | null;
}

/** Moves dead messages to the dead-letter queue, or deletes them where there is none. */
export class DeadLetters {
  readonly #context: QueueContext;
  readonly #outbox: Outbox;

  constructor(context: QueueContext, outbox: Outbox) {
    this.#context = context;
    this.#outbox = outbox;
  }

  /**
   * Within a turn: dead-letters messages that have left the queue. The commit that removes them stores the intent to
   * move them.
   *
   * @param reason why they are dead, to continue "after 3 failed attempt(s): ...".
   * @param by consumer of the last delivery; `null` where no delivery has ended.
   */
  add(dead: readonly Slice[], reason: string, by: string | null): void {
    if (dead.length === 0) return;
    const { name, log, definition } = this.#context;
    const target = deadLetterQueueOf(definition);
    const records: Uint8Array[] = [];
    for (const slice of dead) {
      const letters = this.#read(slice, reason);
      this.#note(slice, letters, { target, error: reason, by });
      if (target === null) this.#context.history.finished.note("dropped", slice, { error: reason });
      for (const { id, packed } of letters) {
        const isMoved = target !== null && packed !== null;
        const what = isMoved
          ? `Moving message "${id}" on queue "${name}" to dead letter queue "${target}"`
          : `Dropped message "${id}" on queue "${name}"`;
        const line = () => `${what} after ${slice.attempts} failed attempt(s): ${reason}`;
        log.message(name, isMoved ? "moved" : "dropped", reason, line);
        if (isMoved) records.push(packed);
      }
    }
    if (target !== null) this.#outbox.put(target, records);
  }

  /**
   * Within a turn: dead-letters messages of a topic whose next attempt falls after their retention (spec sns-delivery
   * 6.3, 7, 11.2). An attempt at its very end is made.
   *
   * @param sentMs when they were published.
   * @param by consumer whose delivery has failed.
   * @returns whether they were dead-lettered.
   */
  addOutlived(range: LeasedRange, sentMs: number, delayMs: number, reason: string, by: string): boolean {
    const { definition, nowMs, queue } = this.#context;
    if (definition === undefined || !isForNotifications(definition)) return false;
    const retentionSeconds = definition.messageRetentionSeconds;
    if (nowMs + delayMs <= sentMs + 1000 * retentionSeconds) return false;
    const next = `${reason}; the next attempt would be later than ${retentionSeconds} s after it was published`;
    this.add(giveUp(queue, range), next, by);
    return true;
  }

  /** Within a turn: dead-letters messages of a topic that are older than their queue keeps them. */
  addExpired(expired: readonly Slice[]): void {
    const { definition } = this.#context;
    this.add(expired, `it was not delivered within ${definition?.messageRetentionSeconds} s`, null);
  }

  /** Adds the end of a message in this queue to the extension that its dead letter takes along. */
  #withPast(
    extension: MessageExtension,
    payload: PackedIndex,
    i: number,
    { segmentId, attempts }: Slice,
    error: string,
  ): MessageExtension {
    const { history, queueName: queue, nowMs } = this.#context;
    if (!history.isOn) return extension;
    const id = payload.id(i);
    const first = { queue, id, sentMs: payload.timestampMs(i), by: history.producerOf(segmentId) };
    return withEnd(extension, first, { queue, id, kind: "deadLettered", atMs: nowMs, attempts, error });
  }

  #note(slice: Slice, letters: readonly DeadLetter[], { target, error, by }: NotedEnd): void {
    const { history } = this.#context;
    if (!history.isOn) return;
    const { segmentId, attempts: attempt } = slice;
    for (const part of runsOf(letters)) {
      const [{ position, packed }] = part;
      const isMoved = target !== null && packed !== null;
      const at = [segmentId, position, position + part.length];
      const ids = part.map(({ id }) => id).join("");
      const event = { count: part.length, at, ids, attempt, error, ...(by === null ? {} : { by }) };
      history.record(
        isMoved ? { kind: "deadLettered", to: target, ...event } : { kind: "dropped", ...event },
      );
    }
  }

  /** Copies the records of dead messages, each without its own delay, which has passed here. */
  #read(slice: Slice, reason: string): DeadLetter[] {
    const { segmentId, from, to } = slice;
    const { payloadOf, damage } = this.#context;
    try {
      const payload = payloadOf(segmentId);
      const positions = Array.from({ length: to - from }, (_, i) => from + i);
      const readable = positions.filter((i) => isReadable(payload, i));
      const lost = positions.length - readable.length;
      if (lost > 0) damage.messagesLost(slice, lost, "their stored bytes are damaged");
      return readable.map((i) => ({
        position: i,
        id: payload.id(i),
        packed: this.#recordOf(payload, i, slice, reason),
      }));
    } catch (error) {
      damage.messagesLost(slice, to - from, error);
      return [];
    }
  }

  /**
   * Makes the record for the dead-letter queue. It names this queue as its source; under a redrive policy in SQS's own
   * way, with its receives. On a FIFO queue its id becomes its deduplication id, so that no two dead letters are
   * duplicates, and it counts as sent when it arrives (spec sqs 4.3, 5.5, 6.1, 6.2).
   */
  #recordOf(payload: PackedIndex, i: number, slice: Slice, reason: string): Uint8Array | null {
    const { queueName: name, definition, queue } = this.#context;
    const { attempts } = slice;
    if (isForNotifications(definition)) {
      return notificationRecord(payload, i, () => this.#context.newMessageId());
    }
    const { deadLetterSource, deadLetterOf, ...before } = payload.extension(i);
    const known = this.#withPast(before, payload, i, slice, reason);
    if (!definition?.receive?.redrive && !isForWorkerDaemon(definition)) {
      return changeRecord(payload, i, { extension: { ...known, deadLetterOf: name } });
    }
    const extension = { ...known, deadLetterSource: name };
    return changeRecord(payload, i, {
      earlierReceives: payload.earlierReceives(i) + attempts,
      ...(queue.isFifo
        ? { timestampMs: 0, extension: { ...extension, deduplicationId: payload.id(i) } }
        : { extension }),
    });
  }
}

/** Splits dead messages so that each part is one range, of messages that all go or all stay, and fits into one event. */
function runsOf(letters: readonly DeadLetter[]): [DeadLetter, ...DeadLetter[]][] {
  const runs: [DeadLetter, ...DeadLetter[]][] = [];
  for (const letter of letters) {
    const run = runs.at(-1);
    const goesOn =
      run !== undefined &&
      run.length < LETTERS_PER_EVENT_MAX &&
      letter.position === run[0].position + run.length &&
      (letter.packed === null) === (run[0].packed === null);
    if (goesOn) run.push(letter);
    else runs.push([letter]);
  }
  return runs;
}

/**
 * Makes the dead letter of a message of a topic: a new message, whose time begins anew, with the body meant for the
 * endpoint; `null` for a confirmation, which is never dead-lettered.
 */
function notificationRecord(
  payload: PackedIndex,
  i: number,
  newId: () => string,
): Uint8Array<ArrayBuffer> | null {
  const { attributes: known, ...extension } = payload.extension(i);
  if (!canBeDeadLetter(known)) return null;
  const attributes = deadLetterAttributes(known);
  return changeRecord(payload, i, {
    id: newId(),
    timestampMs: 0,
    earlierReceives: 0,
    extension: attributes === undefined ? extension : { ...extension, attributes },
  });
}
