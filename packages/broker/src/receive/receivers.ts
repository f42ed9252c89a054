import { advance, deleteReceived, factsOf, type Lease, type Receipt, receive } from "@sluice/engine";
import {
  IN_FLIGHT_MAX,
  RECEIVE_MESSAGES_MAX,
  RECEIVE_NOW_BYTES_MAX,
  RECEIVE_WAIT_MS_MAX,
  type ReceiveNowReply,
  type ReceiveReply,
  type ReceiveRequest,
  VISIBILITY_TIMEOUT_MS_DEFAULT,
  VISIBILITY_TIMEOUT_MS_MAX,
} from "@sluice/protocol";
import { plural } from "@sluice/protocol/words";
import { attemptsIn, positionsOfEach } from "../history/journal/event.ts";
import { sequenceNumberOf } from "../send/intake.ts";
import { DEAD_BYTES_MAX, type DeadLetters } from "../transfer/dead-letters.ts";
import type { QueueContext } from "../turn/context.ts";
import { checkReadable, joinOwned } from "../turn/lease-records.ts";
import type { Throttle } from "../turn/throttle.ts";
import type { Attempt, Attempts } from "./attempts.ts";
import { checkRange } from "./pull.ts";
import { encodeReceipt } from "./receipt-token.ts";

/** Name of a client that receives, in the history. */
export const RECEIVER = "SQS";

/** Reply with messages. */
type Received = Extract<ReceiveReply, { kind: "received" }>;

/** Caller that waits for messages. */
interface Receiver {
  readonly request: ReceiveRequest;
  readonly isShortPoll: boolean;
  /** Time in ms at which it gets an empty reply. */
  readonly deadlineMs: number;
  /** Bytes left of the answer, which the receivers of one call share. */
  readonly budget: { bytes: number };
  readonly answer: (reply: ReceiveNowReply) => void;
  readonly reject: (error: unknown) => void;
}

/** Parts of a queue that receiving uses. */
interface ReceiverParts {
  readonly attempts: Attempts;
  readonly throttle: Throttle;
  readonly deadLetters: DeadLetters;
  /** Resolves when a client can be served from the part of the queue's limits; `null` if it can now. */
  forClient(): Promise<void> | null;
}

/** Reply that waits for the commit of its lease. */
interface UncommittedReply {
  readonly receiver: Receiver;
  readonly reply: ReceiveNowReply;
}

/**
 * Receivers that wait for messages, first come, first served (spec sqs 7). Every turn serves them, because only a turn
 * can make a message visible. `wakeAtMs` is when a turn is needed though nothing else happens.
 */
export class Receivers {
  readonly #context: QueueContext;
  readonly #parts: ReceiverParts;
  #waiting: Receiver[] = [];
  #answers: UncommittedReply[] = [];
  /** Time in ms at which a client received or pulled last; `null` for none since the queue's object started. */
  askedMs: number | null = null;
  /** Bytes of messages that may still die in this turn. */
  #deadRoom = DEAD_BYTES_MAX;

  constructor(context: QueueContext, parts: ReceiverParts) {
    this.#context = context;
    this.#parts = parts;
  }

  /** Resolves with messages once their lease is durable, or with an empty reply at the end of the wait. */
  async receive(request: ReceiveRequest): Promise<ReceiveReply> {
    checkRanges(request);
    const waitMs = request.waitMs ?? this.#settings?.waitMs ?? 0;
    const lent = waitMs === 0 ? this.#parts.forClient() : null;
    if (lent !== null) await lent;
    const reply = this.#queueUp(request, waitMs, { bytes: Infinity });
    this.#look();
    const answered = await reply;
    return answered.kind === "unserved" ? { kind: "empty" } : answered;
  }

  /** Within a turn: receives in it without a wait, up to the bytes of one answer. */
  receiveInTurn(requests: readonly ReceiveRequest[]): Promise<ReceiveNowReply[]> {
    for (const request of requests) checkRanges(request);
    const budget = { bytes: RECEIVE_NOW_BYTES_MAX };
    return Promise.all(requests.map((request) => this.#queueUp(request, 0, budget)));
  }

  /** Ends the wait of a receiver whose caller has gone. */
  cancel(receiverId: string): void {
    const gone = this.#waiting.filter(({ request }) => request.receiverId === receiverId);
    this.#waiting = this.#waiting.filter((receiver) => !gone.includes(receiver));
    for (const { answer } of gone) answer({ kind: "empty" });
  }

  /** Ends the wait of all receivers. */
  endWaits(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { answer } of waiting) answer({ kind: "empty" });
  }

  get areWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  /** Time in ms at which a receiver times out, or may get a message by the passing of time; `null` if none waits. */
  get wakeAtMs(): number | null {
    if (this.#waiting.length === 0) return null;
    const { delayed, leased } = this.#context.queue;
    const moments = [
      delayed.peek()?.atMs,
      leased.peek()?.atMs,
      this.#throttledUntilMs,
      ...this.#waiting.map((next) => next.deadlineMs),
    ];
    return Math.min(...moments.map((moment) => moment ?? Infinity));
  }

  /** Time in ms at which the throttle lets a ready message leave; `null` if it holds none back. */
  get #throttledUntilMs(): number | null {
    const { queue, nowMs } = this.#context;
    const { nextMs } = this.#parts.throttle;
    return queue.readyCount > 0 && nextMs > nowMs ? nextMs : null;
  }

  /** Within a turn: leases messages for the receivers that wait. `answer` hands them out once the turn is durable. */
  serve(nowMs: number): void {
    this.#deadRoom = DEAD_BYTES_MAX;
    if (this.#waiting.length === 0) return;
    advance(this.#context.queue, nowMs);
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const receiver of waiting) {
      const { budget } = receiver;
      const reply: ReceiveNowReply | null =
        budget.bytes <= 0 ? { kind: "unserved" } : this.#replyTo(receiver, nowMs);
      if (reply?.kind === "received") budget.bytes -= reply.packed.byteLength;
      if (reply === null) this.#waiting.push(receiver);
      else this.#answers.push({ receiver, reply });
    }
  }

  /**
   * Within a turn, after `serve`: takes messages for a caller that does not wait; `null` if there are none.
   *
   * @param max 1 to `RECEIVE_MESSAGES_MAX`.
   */
  takeNow(max: number, visibilityMs: number, nowMs: number): Received | null {
    const { queue, definition } = this.#context;
    if (definition?.deliveryPaused === true) return null;
    // Under a throttle messages leave one by one, spaced evenly.
    const { room: slots } = this.#parts.throttle;
    const most = slots === Infinity ? max : Math.min(1, slots);
    const room = Math.min(most, IN_FLIGHT_MAX - queue.leasedCount);
    if (room <= 0) return null;
    advance(queue, nowMs);
    const received = this.#take(room, visibilityMs, nowMs);
    return received === null ? null : this.#reply(received);
  }

  /** After a turn: starts another one if dead letters beyond its room may hide messages from the receivers. */
  lookAgain(): void {
    if (this.#deadRoom <= 0 && this.#waiting.length > 0) void this.#context.wake();
  }

  /** Answers the receivers that a turn served, once it is durable. */
  answer(): void {
    const answers = this.#answers;
    this.#answers = [];
    for (const { receiver, reply } of answers) receiver.answer(reply);
  }

  /** Rejects all receivers: memory and store no longer agree, or the queue is gone. */
  fail(error: unknown): void {
    const receivers = [...this.#waiting, ...this.#answers.map(({ receiver }) => receiver)];
    this.#waiting = [];
    this.#answers = [];
    for (const { reject } of receivers) reject(error);
  }

  #queueUp(request: ReceiveRequest, waitMs: number, budget: Receiver["budget"]): Promise<ReceiveNowReply> {
    this.askedMs = this.#context.nowMs;
    return new Promise((answer, reject) => {
      const deadlineMs = this.#context.nowMs + waitMs;
      this.#waiting.push({ request, isShortPoll: waitMs === 0, deadlineMs, budget, answer, reject });
    });
  }

  /** Starts a turn, which serves the receivers. If it fails, all of them are rejected. */
  #look(): void {
    this.#context.wake().catch((error) => this.fail(error));
  }

  get #settings() {
    return this.#context.definition?.receive;
  }

  /** Makes the reply to a receiver; `null` lets it wait. */
  #replyTo(receiver: Receiver, nowMs: number): ReceiveReply | null {
    const { queue, definition } = this.#context;
    const { attempts, throttle } = this.#parts;
    const { request, isShortPoll, deadlineMs } = receiver;
    const isPaused = definition?.deliveryPaused === true;
    const visibilityMs =
      request.visibilityTimeoutMs ?? this.#settings?.visibilityTimeoutMs ?? VISIBILITY_TIMEOUT_MS_DEFAULT;
    const attemptId = queue.isFifo ? request.attemptId : undefined;
    const again = attemptId === undefined ? null : attempts.repeat(attemptId, visibilityMs, nowMs);
    if (again !== null) return this.#reply(again);
    if (request.onlyRepeated === true) return { kind: "empty" };
    const room = IN_FLIGHT_MAX - queue.leasedCount;
    const max = Math.min(request.max, room, throttle.room);
    const received = isPaused || max <= 0 ? null : this.#take(max, visibilityMs, nowMs);
    if (received !== null) {
      if (attemptId !== undefined) attempts.note(attemptId, received);
      return this.#reply(received);
    }
    if (isShortPoll && room <= 0 && !queue.isFifo) return { kind: "overLimit" };
    return nowMs >= deadlineMs ? { kind: "empty" } : null;
  }

  /** Leases messages that can be read. Others are reported as lost, and further ones take their places. */
  #take(max: number, visibilityMs: number, nowMs: number): Attempt | null {
    const { queue } = this.#context;
    for (;;) {
      const request = { max, visibleAtMs: nowMs + visibilityMs, deadBytesMax: this.#deadRoom };
      const { lease, dead, deadRoom } = receive(queue, request, nowMs);
      this.#deadRoom = deadRoom;
      const reason = `it was received ${plural(queue.rules.maxRetries + 1, "time")}`;
      this.#parts.deadLetters.add(dead, reason, RECEIVER);
      if (lease === null) return null;
      const receipts = this.#readableOf(lease, nowMs);
      if (receipts.length === 0) continue;
      this.#parts.throttle.delivered(receipts.length);
      this.#note(receipts);
      return { receipts, receivedMs: nowMs, visibleAtMs: nowMs + visibilityMs };
    }
  }

  #note(receipts: readonly Receipt[]): void {
    const { history, payloadOf, queue, traces } = this.#context;
    const [first] = receipts;
    traces?.used("receive", RECEIVER, receipts, payloadOf);
    if (!history.isOn || first === undefined) return;
    const at = positionsOfEach(receipts);
    history.quiet({ kind: "delivered", by: RECEIVER, count: receipts.length, at }, () => ({
      ids: receipts.map(({ segmentId, index }) => payloadOf(segmentId).id(index)).join(""),
      batch: first.leaseId,
      ...attemptsIn(receipts.map((receipt) => ({ attempts: factsOf(queue, receipt)?.receives ?? 1 }))),
    }));
  }

  /** Lists the messages of a lease that can be read, and deletes the others. */
  #readableOf({ slices, leaseId }: Lease, nowMs: number): Receipt[] {
    const receipts: Receipt[] = [];
    for (const { segmentId, from, to } of slices) {
      for (let index = from; index < to; index++) {
        const receipt = { segmentId, index, leaseId };
        if (checkReadable(this.#context, segmentId, index)) receipts.push(receipt);
        else deleteReceived(this.#context.queue, receipt, nowMs);
      }
    }
    return receipts;
  }

  #reply({ receipts, receivedMs }: Attempt): Received {
    const { queue, name } = this.#context;
    const handles: string[] = [];
    const receiveCounts: number[] = [];
    const firstReceivedMs: number[] = [];
    const sequenceNumbers: string[] | null = queue.isFifo ? [] : null;
    for (const receipt of receipts) {
      const facts = factsOf(queue, receipt);
      if (facts === null) throw new Error("a message that was just received is gone");
      const payload = this.#context.payloadOf(receipt.segmentId);
      handles.push(encodeReceipt(name, receipt, receivedMs));
      receiveCounts.push(payload.earlierReceives(receipt.index) + facts.receives);
      firstReceivedMs.push(facts.firstReceivedMs);
      sequenceNumbers?.push(sequenceNumberOf(facts.seq));
    }
    const packed = this.#recordsOf(receipts);
    return { kind: "received", packed, receipts: handles, receiveCounts, firstReceivedMs, sequenceNumbers };
  }

  /** Joins the records of messages into bytes of their own. Records that lie together are copied as one part. */
  #recordsOf(receipts: readonly Receipt[]): Uint8Array {
    const records: Uint8Array[] = [];
    for (let i = 0; i < receipts.length; ) {
      const { segmentId, index } = receipts[i] as Receipt; // i < length
      let count = 1;
      while (isAt(receipts[i + count], segmentId, index + count)) count += 1;
      records.push(this.#context.payloadOf(segmentId).records(index, index + count));
      i += count;
    }
    return joinOwned(records);
  }
}

function isAt(receipt: Receipt | undefined, segmentId: number, index: number): boolean {
  return receipt !== undefined && receipt.segmentId === segmentId && receipt.index === index;
}

/** Refuses numbers out of range. The edge has refused them before, in its dialect's words. */
function checkRanges({ max, visibilityTimeoutMs = 0, waitMs = 0 }: ReceiveRequest): void {
  checkRange("max", max, 1, RECEIVE_MESSAGES_MAX);
  checkRange("visibilityTimeoutMs", visibilityTimeoutMs, 0, VISIBILITY_TIMEOUT_MS_MAX);
  checkRange("waitMs", waitMs, 0, RECEIVE_WAIT_MS_MAX);
}
