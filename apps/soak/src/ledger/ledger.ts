import { type Change, type CommitRecord, changeOf, wasLeased } from "./change.ts";
import type { DeliveryRecord } from "./delivery-record.ts";
import type { Departure, Message } from "./message.ts";
import { tagsOf } from "./tags.ts";
import { GONE, type Segment, sameView, viewsOf } from "./view.ts";

/** Messages on their way to another queue. */
export interface Parcel {
  readonly id: number;
  readonly target: string;
  readonly tags: readonly number[];
}

/** What a commit meant, message by message. */
export interface AppliedCommit {
  readonly record: CommitRecord;
  readonly accepted: readonly Message[];
  readonly changes: readonly Change[];
  readonly parcelsIn: readonly Parcel[];
  readonly parcelsOut: readonly (Parcel | undefined)[];
  /** The highest lease id that was durable before. */
  readonly leaseIdMaxBefore: number;
}

/**
 * What a queue has promised: every message that was ever durable in it and what became of it, drawn from the rows of
 * durable commits and from what consumers answered. It shares no state with the queue that it watches.
 */
export class Ledger {
  readonly messages = new Map<number, Message>();
  readonly deliveries = new Map<number, DeliveryRecord>();
  readonly parcels = new Map<number, Parcel>();
  readonly counts: Record<Departure | "accepted" | "waiting" | "leased", number> = {
    accepted: 0,
    waiting: 0,
    leased: 0,
    acked: 0,
    dead: 0,
    expired: 0,
    lost: 0,
  };
  #leaseIdMax = 0;
  readonly #queue: number;
  readonly #segments = new Map<number, Message[]>();

  constructor(queue: number) {
    this.#queue = queue;
  }

  /** Messages that are not gone. */
  *present(): Iterable<Message> {
    for (const messages of this.#segments.values()) {
      for (const message of messages) if (message.view.status !== "gone") yield message;
    }
  }

  /** Enters a commit that has become durable. */
  enter(record: CommitRecord): AppliedCommit {
    const changes: Change[] = [];
    const accepted: Message[] = [];
    const leaseIdMaxBefore = this.#leaseIdMax;
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
        const message = this.#accept(segment, index, tags[index] ?? 0);
        known.push(message);
        accepted.push(message);
        const after = views?.[index] ?? GONE;
        if (!sameView(message.view, after)) changes.push(this.#change(message, after, record));
      }
      this.#segments.set(id, known);
    }
    return { record, accepted, changes, leaseIdMaxBefore, ...this.#post(record) };
  }

  #accept(segment: Segment, index: number, tag: number): Message {
    const message: Message = {
      tag,
      queue: this.#queue,
      segmentId: segment.id,
      index,
      seq: segment.seqOf(index),
      group: segment.groups?.[index]?.id ?? null,
      firstDueMs: segment.dueOf(index),
      acceptedMs: segment.acceptedOf(index),
      bytes: segment.sizes[index] ?? 0,
      view: { status: "waiting", attempts: 0, atMs: segment.dueOf(index) },
      copies: (this.messages.get(tag)?.copies ?? 0) + 1,
      leasedFromMs: 0,
      leasedInLife: 0,
      departure: null,
    };
    this.counts.accepted += 1;
    this.counts.waiting += 1;
    this.messages.set(tag, message);
    return message;
  }

  #change(message: Message, after: Change["after"], record: CommitRecord): Change {
    const { view } = message;
    const delivery = view.status === "leased" ? this.deliveries.get(view.leaseId) : undefined;
    const change = changeOf(message, after, delivery, record);
    if (view.status !== "gone") this.counts[view.status] -= 1;
    else if (message.departure !== null) this.counts[message.departure] -= 1;
    if (after.status === "gone") {
      message.departure = departureOf(change);
      this.counts[message.departure] += 1;
    } else {
      message.departure = null;
      this.counts[after.status] += 1;
      if (wasLeased(change)) {
        message.leasedInLife = record.life;
        if (change.between.status === "waiting") message.leasedFromMs = change.between.atMs;
      }
      if (after.status === "leased") this.#leaseIdMax = Math.max(this.#leaseIdMax, after.leaseId);
    }
    message.view = after;
    return change;
  }

  #post({ outboxIn, outboxOut }: CommitRecord): Pick<AppliedCommit, "parcelsIn" | "parcelsOut"> {
    const parcelsIn = outboxIn.map(({ id, target, payload }) => ({ id, target, tags: tagsOf(payload) }));
    for (const parcel of parcelsIn) this.parcels.set(parcel.id, parcel);
    const parcelsOut = outboxOut.map((id) => this.parcels.get(id));
    for (const id of outboxOut) this.parcels.delete(id);
    return { parcelsIn, parcelsOut };
  }
}

function departureOf({ ending, between, message, commit }: Change): Departure {
  if (between.status === "gone") return ending?.kind === "acked" ? "acked" : "dead";
  const isExpired =
    between.status === "waiting" && message.acceptedMs + commit.rules.retentionMs <= commit.atMs;
  return isExpired ? "expired" : "lost";
}
