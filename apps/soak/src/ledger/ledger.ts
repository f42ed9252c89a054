import type { OutboxItem } from "@sluice/broker/testing";
import { isTopicObject, type MoveTask } from "@sluice/protocol";
import type { AppliedCommit, Ignored, PendingBatch } from "./applied-commit.ts";
import {
  type Change,
  type CommitMoment,
  type CommitRecord,
  changeOf,
  endingByReceipt,
  leasedFrom,
  retentionStartMs,
  timesDelivered,
  wasLeased,
} from "./change.ts";
import type { DeliveryRecord } from "./delivery-record.ts";
import { departureOf, isByMove } from "./departure.ts";
import { type Departure, type Message, usesFor } from "./message.ts";
import type { MovedMessages } from "./moved-messages.ts";
import { NamedReceives } from "./named-receives.ts";
import { FROM_PRODUCER, isReceived, type Origin } from "./origin.ts";
import type { Copy } from "./publications.ts";
import { tagsOf } from "./tags.ts";
import { TaskRuns } from "./task-runs.ts";
import { GONE, type Segment, sameView, type View, viewsOf } from "./view.ts";

/** Fields of a message that its queue determines when it takes the message in. */
type Place = Pick<
  Message,
  "segmentId" | "index" | "seq" | "group" | "bytes" | "firstDueMs" | "acceptedMs" | "bornUnder" | "view"
>;

/**
 * Ledger of a queue: every message that was ever durable in it and what became of it, derived from the rows of durable
 * commits and from the answers of consumers. It shares no state with the queue that it watches.
 */
export class Ledger {
  readonly messages = new Map<number, Message>();
  readonly deliveries = new Map<number, DeliveryRecord>();
  readonly pendingBatches = new Map<number, PendingBatch>();
  readonly counts: Record<Departure | "accepted" | "waiting" | "leased", number> = {
    accepted: 0,
    waiting: 0,
    leased: 0,
    acked: 0,
    dead: 0,
    moved: 0,
    expired: 0,
    deleted: 0,
    lost: 0,
  };
  /** Copies of a topic that came after the queue was deleted: they went on to another queue or were dropped. */
  readonly passedOn = new Set<number>();
  readonly taskRuns = new TaskRuns();
  /** The queue's move tasks, newest first. */
  moveTasks: readonly MoveTask[] = [];
  #wasMoving = false;
  #removals = 0;
  #revision = 0;
  /** Results of receives with attempt ids, of a FIFO queue. */
  readonly namedReceives = new NamedReceives();
  /** Moments at which a topic took each deduplication id: the last one, and the one before that, in ms. */
  readonly publishedIds = new Map<string, { readonly atMs: number; readonly beforeMs: number | null }>();
  #leaseIdMax = 0;
  readonly #queue: number;
  readonly #originOf: (tag: number) => Origin | null;
  /** `maxReceivesPerSecond` at the last commit. */
  #limit: number | undefined;
  /** Deliveries of the last second under that limit: moment and messages of each commit. */
  #latest: { readonly atMs: number; readonly count: number }[] = [];
  readonly #segments = new Map<number, Message[]>();
  readonly #copies: Map<number, Copy>;
  readonly #moved: MovedMessages;

  /**
   * @param queue index of the queue.
   * @param originOf finds the origin of a message that died in another queue; `null` for one that died in none.
   * @param copies all published copies, by tag.
   * @param moved all moved messages.
   */
  constructor(
    queue: number,
    originOf: (tag: number) => Origin | null,
    copies: Map<number, Copy>,
    moved: MovedMessages,
  ) {
    this.#moved = moved;
    this.#queue = queue;
    this.#copies = copies;
    this.#originOf = originOf;
  }

  /** Messages that are not gone. */
  *present(): Iterable<Message> {
    for (const messages of this.#segments.values()) {
      for (const message of messages) if (message.view.status !== "gone") yield message;
    }
  }

  /**
   * Whether the retention of a transferred message is over when it arrives: it then comes and goes in one commit, and
   * no row of it is ever written.
   */
  isOverOnArrival(
    tag: number,
    { atMs, rules, definition }: Pick<CommitMoment, "atMs" | "rules" | "definition">,
  ): boolean {
    const { namesSource, sentMs } = this.#originOf(tag) ?? FROM_PRODUCER;
    const startMs = retentionStartMs({ namesSource, sentMs: sentMs ?? atMs }, { atMs, definition });
    return startMs + rules.retentionMs <= atMs;
  }

  /** Removes everything, as the queue is deleted: its messages, and those that are on their way to another queue. */
  removeAll(): void {
    for (const message of [...this.present()]) {
      if (message.view.status !== "gone") this.counts[message.view.status] -= 1;
      this.counts.deleted += 1;
      message.departure = "deleted";
      message.view = GONE;
      message.receiptUses.length = 0;
    }
    this.#segments.clear();
    this.pendingBatches.clear();
    this.taskRuns.doneMs.clear();
    this.moveTasks = [];
    this.#latest = [];
    this.#removals += 1;
  }

  /** How often everything was removed. */
  get removals(): number {
    return this.#removals;
  }

  /** Whether a move task runs, or has run until the last commit or within it. */
  get isMoving(): boolean {
    return this.#wasMoving || this.moveTasks.some(({ status }) => status === "running");
  }

  /** Enters a commit that has become durable. */
  enter(record: CommitRecord): AppliedCommit {
    const changes: Change[] = [];
    const accepted: Message[] = [];
    const leaseIdMaxBefore = this.#leaseIdMax;
    const tasksBefore = this.moveTasks;
    const revisionBefore = this.#revision;
    this.#revision = Math.max(revisionBefore, record.registered?.revision ?? 0);
    this.moveTasks = record.moveTasks ?? tasksBefore;
    const isNew = ({ taskId }: MoveTask) => !tasksBefore.some((before) => before.taskId === taskId);
    this.#wasMoving = tasksBefore.some(({ status }) => status === "running") || this.moveTasks.some(isNew);
    for (const { id, segment, payload } of record.segments) {
      const known = this.#segments.get(id) ?? [];
      const views = segment === null ? null : viewsOf(segment);
      for (const message of known) {
        const after = views?.[message.index] ?? GONE;
        if (!sameView(message.view, after)) changes.push(this.#change(message, after, record));
      }
      if (segment === null) {
        this.#segments.delete(id);
        continue;
      }
      if (payload === null || segment.count === known.length) continue;
      const tags = tagsOf(payload);
      for (let index = known.length; index < segment.count; index++) {
        const message = this.#accept(segment, index, tags[index] ?? 0, record);
        known.push(message);
        accepted.push(message);
        const after = views?.[index] ?? GONE;
        if (!sameView(message.view, after)) changes.push(this.#change(message, after, record));
      }
      this.#segments.set(id, known);
    }
    this.taskRuns.enter(record, accepted);
    if (record.definition.fifo !== undefined) this.#enterReceives(changes, record);
    const ignored = this.#takeReceiptUses(record, new Set(changes.map(({ message }) => message)));
    const deliveredInSecond = this.#deliveredInSecond(changes, record);
    const seen = { leaseIdMaxBefore, revisionBefore, tasksBefore, deliveredInSecond };
    return { record, accepted, changes, ignored, ...seen, ...this.#post(record) };
  }

  /** Records leases of receives, and receives that were made again. */
  #enterReceives(changes: readonly Change[], record: CommitRecord): void {
    for (const { attemptId, visibilityMs } of record.receiving) {
      // Received again and hidden until the same moment as before: the rows do not change.
      const again = this.namedReceives.named(attemptId);
      if (again === null || again.endMs !== record.atMs + visibilityMs) continue;
      for (const message of again.messages) message.leasedAtMs = record.atMs;
    }
    const leased = new Map<number, { readonly endMs: number; readonly messages: Message[] }>();
    for (const change of changes) {
      const { message, after, ending } = change;
      if (ending?.kind === "repeated" && message.namedReceive !== null)
        message.namedReceive.endMs = ending.untilMs;
      if (after.status !== "leased" || after.kind !== "receive" || !wasLeased(change)) continue;
      const lease = leased.get(after.leaseId);
      if (lease !== undefined) lease.messages.push(message);
      else leased.set(after.leaseId, { endMs: after.atMs, messages: [message] });
    }
    for (const [leaseId, { endMs, messages }] of leased)
      this.namedReceives.enter(leaseId, messages, endMs, record);
  }

  /**
   * Removes the uses of receipts that the commit had to carry out. Returns the messages that it should have changed by
   * them, and has not.
   */
  #takeReceiptUses(record: CommitRecord, changed: ReadonlySet<Message>): Ignored[] {
    const ignored: Ignored[] = [];
    for (const message of this.#withUsedReceipts()) {
      const { receiptUses, view } = message;
      const expected = changed.has(message) ? null : endingByReceipt(message, record);
      if (expected !== null && !sameView(view, expected.between)) {
        if (isReceivedSince(view, expected.between, record)) message.countsTold.clear();
        else ignored.push({ message, ending: expected.ending });
      }
      for (const use of usesFor(message, record)) receiptUses.splice(receiptUses.indexOf(use), 1);
    }
    return ignored;
  }

  #withUsedReceipts(): Message[] {
    const used: Message[] = [];
    for (const messages of this.#segments.values()) {
      for (const message of messages) {
        if (message.receiptUses.length > 0 && message.view.status !== "gone") used.push(message);
      }
    }
    return used;
  }

  #deliveredInSecond(changes: readonly Change[], { atMs, definition }: CommitRecord): number {
    // A new limit holds only for deliveries after the change.
    if (this.#limit !== definition.maxReceivesPerSecond) this.#latest = [];
    this.#limit = definition.maxReceivesPerSecond;
    const count = changes.reduce((sum, change) => sum + timesDelivered(change), 0);
    this.#latest = [...this.#latest, { atMs, count }].filter((one) => one.atMs > atMs - 1_000);
    return this.#latest.reduce((sum, one) => sum + one.count, 0);
  }

  #accept(segment: Segment, index: number, tag: number, record: CommitRecord): Message {
    const firstDueMs = segment.dueOf(index);
    return this.#enterMessage(tag, record, {
      segmentId: segment.id,
      index,
      seq: segment.seqOf(index),
      group: segment.groups?.[index]?.id ?? null,
      bytes: segment.sizes[index] ?? 0,
      firstDueMs,
      acceptedMs: segment.acceptedOf(index),
      bornUnder: record.registered?.revision ?? 0,
      view: { status: "waiting", attempts: 0, atMs: firstDueMs },
    });
  }

  /** Enters a message that has come and gone in one commit, so that no row of it was ever written. */
  #passBy(tag: number, record: CommitRecord, departure: "expired" | "dead"): void {
    const { atMs, rules, definition } = record;
    const message = this.#enterMessage(tag, record, {
      segmentId: 0,
      index: 0,
      seq: 0,
      group: null,
      bytes: 0,
      firstDueMs: atMs,
      acceptedMs: atMs,
      bornUnder: 0,
      view: GONE,
    });
    message.departure = departure;
    message.leftUnder = definition;
    if (departure === "dead") message.attempts = rules.maxRetries + 1;
    this.counts[departure] += 1;
  }

  #enterMessage(tag: number, { atMs }: CommitRecord, place: Place): Message {
    const origin = this.#originOf(tag) ?? FROM_PRODUCER;
    const message: Message = {
      tag,
      queue: this.#queue,
      ...origin,
      sentMs: origin.sentMs ?? atMs,
      ...place,
      attempts: 0,
      firstReceivedMs: 0,
      receiptUses: [],
      countsTold: new Set(),
      namedReceive: null,
      leasedFromMs: 0,
      isPlaceUnclear: false,
      leasedAtMs: 0,
      leasedInEpoch: 0,
      copies: (this.messages.get(tag)?.copies ?? 0) + 1,
      departure: null,
      leftUnder: null,
    };
    this.counts.accepted += 1;
    if (place.view.status === "waiting") this.counts.waiting += 1;
    this.messages.set(tag, message);
    return message;
  }

  #change(message: Message, after: Change["after"], record: CommitRecord): Change {
    const { view } = message;
    const delivery = view.status === "leased" ? this.deliveries.get(view.leaseId) : undefined;
    const change = changeOf(message, after, delivery, record);
    if (view.status !== "gone") this.counts[view.status] -= 1;
    else if (message.departure !== null) this.counts[message.departure] -= 1;
    if (change.between.status !== "gone") message.attempts = change.between.attempts;
    else if (change.before.status !== "gone") message.attempts = change.before.attempts;
    // The next delivery has the attempt number of the released one.
    if (change.ending?.kind === "released" && view.status !== "gone")
      message.countsTold.delete(view.attempts);
    if (after.status === "gone") {
      message.departure = departureOf(change, record);
      message.leftUnder = record.definition;
      this.counts[message.departure] += 1;
      // Receives of the same commit that left the message visible have used up its attempts.
      const diedAtReceive = message.departure === "dead" && isReceived(record.definition);
      if (diedAtReceive) message.attempts = Math.max(message.attempts, record.rules.maxRetries + 1);
    } else {
      message.departure = null;
      this.counts[after.status] += 1;
      if (isReceived(record.definition) && timesDelivered(change) > 0)
        message.firstReceivedMs ||= record.atMs;
      if (change.ending?.kind === "repeated") message.leasedAtMs = record.atMs;
      if (wasLeased(change)) {
        message.leasedInEpoch = record.epoch;
        message.leasedAtMs = record.atMs;
        message.isPlaceUnclear = this.isMoving;
        message.leasedFromMs = leasedFrom(change) ?? message.leasedFromMs;
      }
      if (after.status === "leased") this.#leaseIdMax = Math.max(this.#leaseIdMax, after.leaseId);
    }
    message.view = after;
    return change;
  }

  #post(
    record: CommitRecord,
  ): Pick<AppliedCommit, "pendingIn" | "pendingOut" | "publishedBefore" | "passedOnBefore"> {
    const { outboxIn, outboxOut } = record;
    const pendingIn = outboxIn.map((item) => this.#pendingBatchOf(item, record));
    const publishedBefore = new Set<number>();
    const passedOnBefore = new Set<number>();
    for (const tag of pendingIn.flatMap(({ tags, isMove }) => (isMove ? [] : tags))) {
      if (this.messages.has(tag)) continue;
      const copy = this.#copies.get(tag);
      if (isTopicObject(record.queue)) {
        if (copy === undefined) continue;
        if (copy.publishedMs !== null) publishedBefore.add(tag);
        this.#published(copy, record.atMs);
        continue;
      }
      if (copy?.target === record.queue && !record.isThere) {
        if (this.passedOn.has(tag)) passedOnBefore.add(tag);
        this.passedOn.add(tag);
        continue;
      }
      if (this.isOverOnArrival(tag, record)) this.#passBy(tag, record, "expired");
      else if (record.visibleReceivesMax > record.rules.maxRetries) this.#passBy(tag, record, "dead");
    }
    for (const pendingBatch of pendingIn) this.pendingBatches.set(pendingBatch.id, pendingBatch);
    const pendingOut = outboxOut.map((id) => this.pendingBatches.get(id));
    for (const id of outboxOut) this.pendingBatches.delete(id);
    return { pendingIn, pendingOut, publishedBefore, passedOnBefore };
  }

  #pendingBatchOf(item: OutboxItem, record: CommitRecord): PendingBatch {
    const { id, target, payload } = item;
    const tags = tagsOf(payload);
    if (!isByMove(item, record)) return { id, target, tags, isMove: false };
    return { id, target, tags: tags.map((tag) => this.#moved.depart(tag, target)), isMove: true };
  }

  #published(copy: Copy, atMs: number): void {
    const { deduplicationId: id, tags } = copy.publication;
    // Once for all copies of a message: the checker "fan-out" sees to it that they come together.
    if (id !== null && copy.tag === tags[0]) {
      this.publishedIds.set(id, { atMs, beforeMs: this.publishedIds.get(id)?.atMs ?? null });
    }
    copy.publishedMs = atMs;
  }
}

/** Whether receives of the same commit that hide nothing can have turned `between` into `view`, its state as before. */
function isReceivedSince(view: View, between: View, { visibleReceivesMax }: CommitRecord): boolean {
  if (view.status !== "waiting" || between.status !== "waiting" || view.atMs !== between.atMs) return false;
  const receives = view.attempts - between.attempts;
  return receives > 0 && receives <= visibleReceivesMax;
}
