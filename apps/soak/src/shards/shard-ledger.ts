import { DEDUPLICATION_MS, PackedIndex, type QueueRecord, shardOf } from "@sluice/protocol";
import { tagsOf } from "../ledger/tags.ts";
import { GONE, sameView, type View, viewsOf } from "../ledger/view.ts";
import type { StoredRows } from "../platform/commits.ts";
import type { World } from "../world/world.ts";
import { Deletions } from "./deletions.ts";
import { LeaseRates } from "./lease-rates.ts";
import type { ShardCommit } from "./shard-commit.ts";
import type { Arrival, PurgeCall, ShardMessage } from "./shard-message.ts";
import type { ShardProperty } from "./shard-properties.ts";
import type { ShardScenario } from "./shard-scenario.ts";

/** The world as the ledger uses it. */
interface WatchedWorld extends World {
  readonly scenario: ShardScenario;
  readonly objects: ReadonlyMap<
    string,
    { readonly record: QueueRecord | null; readonly rows: Pick<StoredRows, "record">; notePaused(): number }
  >;
  violates(property: ShardProperty, name: string, text: string): void;
}

/**
 * Ledger of all messages that were ever durable in a shard, derived from the rows that the shards have written. It
 * checks most properties of shards.
 */
export class ShardLedger {
  readonly messages = new Map<number, ShardMessage>();
  readonly arrivals = new Map<number, Arrival>();
  /** Tags of the arrivals of each logical message. */
  readonly tagsByLogical = new Map<number, number[]>();
  /** Logical messages whose producer was told that they are stored, with the event of that answer. */
  readonly acknowledged = new Map<number, number>();
  readonly purges: PurgeCall[] = [];
  readonly pauses: { readonly queue: string; readonly fromEvent: number; toEvent: number }[] = [];
  /** Tags of messages that a client or the Worker has acknowledged or deleted. */
  readonly settled = new Set<number>();
  readonly deletions = new Deletions();
  /** Time of the last lease of each object, in ms. */
  readonly servedMs = new Map<string, number>();
  readonly #rates = new LeaseRates();
  readonly #segments = new Map<string, Map<number, ShardMessage[]>>();
  /** Event in which each segment was last written. */
  readonly #touched = new Map<string, number>();
  /** Event in which a message of each group last changed. */
  readonly #groupEvents = new Map<string, number>();
  readonly #groups = new Map<string, Set<ShardMessage>>();
  /** Outbox items by object and id: messages on their way to another object. */
  readonly #items = new Map<string, { readonly tags: readonly number[]; readonly asOf: number }>();
  readonly #deduplicated = new Map<
    string,
    { readonly atMs: number; readonly tag: number; readonly object: string }
  >();
  /** Messages that were on their way from an object when that dropped everything. */
  readonly #dropped = new Set<number>();
  /** The queue (see `Deletions`) whose record each object went by in its last commit. */
  readonly #asOf = new Map<string, number>();
  readonly #world: WatchedWorld;
  #positions = 0;
  live = 0;
  counts = { accepted: 0, deliveries: 0, acked: 0, dead: 0 };

  constructor(world: WatchedWorld) {
    this.#world = world;
  }

  /** Messages of the queue that exists now. Objects may still hold some of a deleted queue of its name. */
  *liveIn(queue: string): Iterable<ShardMessage> {
    const asOf = this.deletions.latest(queue);
    for (const segments of this.#segments.values())
      for (const message of [...segments.values()].flat())
        if (message.state === "live" && message.queue === queue && message.asOf === asOf) yield message;
  }

  /** Messages on their way from one object to another. */
  get underWay(): number {
    return this.#items.size;
  }

  /** Records that a commit has written a segment. */
  touched(object: string, segmentId: number): void {
    this.#touched.set(`${object} ${segmentId}`, this.#world.loop.events);
  }

  /** Enters a commit that has become durable. */
  committed(object: string, commit: ShardCommit): void {
    const before = this.#asOf.get(object) ?? 0;
    const { revision } = commit;
    const asOf = revision === null ? before : this.deletions.asOf(shardOf(object).queue, revision);
    if (asOf !== before) this.#begins(object, asOf);
    const leaving = new Set(commit.outboxIn.flatMap(({ payload }) => tagsOf(payload)));
    let segments = this.#segments.get(object);
    if (segments === undefined) {
      segments = new Map();
      this.#segments.set(object, segments);
    }
    for (const { id, payload } of commit.outboxIn)
      this.#intoOutbox(object, id, { tags: tagsOf(payload), asOf });
    const sorted = [...commit.segments].sort((a, b) => a.id - b.id);
    for (const { id, segment, payload } of sorted) {
      const known = segments.get(id) ?? [];
      const views = segment === null ? null : viewsOf(segment);
      for (const [i, message] of known.entries())
        this.#change(message, views?.[i] ?? GONE, commit, leaving.has(message.tag));
      if (segment === null) {
        segments.delete(id);
        continue;
      }
      if (payload !== null && segment.count > known.length) {
        const index = new PackedIndex(payload);
        const tags = tagsOf(payload);
        for (let i = known.length; i < segment.count; i++) {
          const { groupId = "", deduplicationId } = index.extension(i);
          const message = this.#accept(tags[i] ?? 0, object, commit, {
            asOf,
            segmentId: id,
            group: groupId,
            deduplicationId: deduplicationId ?? null,
            dueMs: segment.dueOf(i),
          });
          known.push(message);
          this.#change(message, views?.[i] ?? GONE, commit, leaving.has(message.tag));
        }
      }
      segments.set(id, known);
    }
    for (const id of commit.outboxOut) this.#outOfOutbox(`${object} ${id}`);
  }

  /** Checks an object that goes by the record of another queue of its name than before: it must be empty. */
  #begins(object: string, asOf: number): void {
    this.#asOf.set(object, asOf);
    for (const message of this.#liveAt(object))
      this.#violates("deleted with its queue", object, `message ${message.tag} is still there`);
    if (this.#itemsOf(object).length > 0)
      this.#violates("deleted with its queue", object, "messages are still on their way");
  }

  /** Enters a drop of everything that an object holds: its queue was deleted, or it is a drained shard. */
  dropped(object: string): void {
    const isOfDeleted = (asOf: number) => asOf < this.deletions.latest(shardOf(object).queue);
    for (const message of this.#liveAt(object)) {
      if (!isOfDeleted(message.asOf))
        this.#violates("drained shards", object, `it goes with message ${message.tag} in it`);
      this.#leave(message, "gone");
    }
    this.#segments.delete(object);
    for (const key of this.#itemsOf(object)) {
      if (!isOfDeleted(this.#items.get(key)?.asOf ?? 0))
        this.#violates("drained shards", object, "it goes with messages on their way");
      this.#outOfOutbox(key, true);
    }
  }

  #liveAt(object: string): ShardMessage[] {
    return [...(this.#segments.get(object)?.values() ?? [])]
      .flat()
      .filter((message) => message.state === "live" && message.object === object);
  }

  #itemsOf(object: string): string[] {
    return [...this.#items.keys()].filter((key) => key.startsWith(`${object} `));
  }

  /** Enters a deletion that the directory has stored. */
  deleted(queue: string, revision: number): void {
    this.deletions.add(queue, revision);
  }

  /** Enters the answer to a producer that its message is stored. */
  acknowledge(logical: number): void {
    this.acknowledged.set(logical, this.#world.loop.events);
    const tags = this.tagsByLogical.get(logical) ?? [];
    if (!tags.some((tag) => this.messages.get(tag)?.everAccepted))
      this.#violates("acknowledged survives in shards", "", `message ${logical} (${tags}) is nowhere`);
  }

  /** Records that a purge arrives at an object. */
  purgeArrives(object: string): void {
    const { queue } = shardOf(object);
    for (const purge of this.purges)
      if (purge.queue === queue && purge.endEvent === null) purge.objects.add(object);
  }

  /** Checks a purge that is answered: no message is left that was acknowledged before the purge began. */
  purged(purge: PurgeCall): void {
    for (const message of this.liveIn(purge.queue)) {
      const { tag, acceptedEvent } = message;
      const acknowledgedEvent = this.acknowledged.get(this.arrivals.get(tag)?.logical ?? -1) ?? Infinity;
      if (acceptedEvent < purge.event && acknowledgedEvent < purge.event && message.state === "live")
        this.#violates("purge of all shards", message.object, `message ${tag} is still there`);
    }
  }

  /** Checks a receive that got nothing: no message may have been ready from its begin until now. */
  foundEmpty(queue: string, { event, atMs }: { readonly event: number; readonly atMs: number }): void {
    if (this.#world.scenario.definition.maxReceivesPerSecond !== undefined) return;
    const isUntouched = ({ object, segmentId, changedEvent }: ShardMessage) =>
      changedEvent < event && (this.#touched.get(`${object} ${segmentId}`) ?? 0) < event;
    for (const message of this.liveIn(queue)) {
      const { view, tag, object, acceptedEvent } = message;
      if (view.status !== "waiting" || view.atMs > atMs || acceptedEvent >= event) continue;
      const isPaused = (this.#world.objects.get(object)?.notePaused() ?? 0) >= event;
      if (isPaused || !isUntouched(message)) continue;
      if (this.#world.scenario.isFifo) {
        const key = groupKey(message);
        if ((this.#groupEvents.get(key) ?? 0) >= event) continue;
        const group = [...(this.#groups.get(key) ?? [])];
        const isFree = (other: ShardMessage) =>
          isUntouched(other) && other.view.status === "waiting" && other.view.atMs <= atMs;
        if (!group.every(isFree)) continue;
      }
      this.#violates("empty in all shards", object, `it had message ${tag} all the time`);
    }
  }

  /** Checks that no second has had more deliveries than the queue allows. */
  checkThrottle(): void {
    const limit = this.#world.scenario.definition.maxReceivesPerSecond;
    const over = limit === undefined ? null : this.#rates.secondOver(limit);
    if (over !== null)
      this.#violates("throttle over shards", over.key, `a second has ${over.count} deliveries`);
  }

  #accept(
    tag: number,
    object: string,
    { event, atMs }: ShardCommit,
    place: Pick<ShardMessage, "asOf" | "segmentId" | "group" | "deduplicationId"> & {
      readonly dueMs: number;
    },
  ): ShardMessage {
    const { queue } = shardOf(object);
    const world = this.#world;
    const known = this.messages.get(tag);
    if (known?.state === "live")
      this.#violates("one shard has it", object, `message ${tag} is stored, and is in ${known.object} too`);
    else if (known?.state === "gone" && known.items.size === 0 && !this.#dropped.has(tag))
      this.#violates("one shard has it", object, `message ${tag} is stored, and was gone before`);
    this.#positions += 1;
    this.counts.accepted += 1;
    const { dueMs, ...rest } = place;
    const message: ShardMessage = {
      ...rest,
      tag,
      object,
      queue,
      state: "live",
      view: { status: "waiting", attempts: 0, atMs: dueMs },
      position: this.#positions,
      committedEvent: event,
      acceptedEvent: world.loop.events,
      acceptedMs: atMs,
      sinceMs: Math.max(atMs, dueMs),
      changedEvent: world.loop.events,
      items: known?.items ?? new Set(),
      everAccepted: true,
    };
    world.note("message is stored", object, tag, place.segmentId);
    this.messages.set(tag, message);
    this.live += 1;
    if (world.scenario.isFifo) this.#acceptGroup(message, known === undefined);
    this.#checkMap(message, known === undefined);
    return message;
  }

  #acceptGroup(message: ShardMessage, isSent: boolean): void {
    const { group, object, tag, deduplicationId, acceptedMs } = message;
    const key = groupKey(message);
    const others = this.#groups.get(key) ?? new Set();
    for (const other of others) {
      if (other.object !== object)
        this.#violates(
          "one shard has a group",
          object,
          `${group} of message ${tag} is in ${other.object} too`,
        );
    }
    others.add(message);
    this.#groups.set(key, others);
    if (deduplicationId === null || !isSent) return;
    const id = `${key} ${deduplicationId}`;
    const before = this.#deduplicated.get(id);
    if (before !== undefined && acceptedMs < before.atMs + DEDUPLICATION_MS && !this.#isPurged(before))
      this.#violates("deduplication over maps", object, `message ${tag} is stored after ${before.tag}`);
    this.#deduplicated.set(id, { atMs: acceptedMs, tag, object });
  }

  /** Checks that a message is stored by the queue whose map it was sent by, and in a shard of shard 0's map. */
  #checkMap({ tag, queue, object, asOf }: ShardMessage, isSent: boolean): void {
    const shard0 = this.#world.objects.get(queue);
    for (const [how, known] of [
      ["knows", shard0?.record],
      ["has stored", shard0?.rows.record],
    ] as const) {
      if (known == null || this.deletions.asOf(queue, known.revision) !== asOf) continue;
      const { kept } = known.shards ?? { kept: 1 };
      if (shardOf(object).shard >= kept)
        this.#violates("stale map", object, `message ${tag} is stored, and shard 0 ${how} ${kept} shards`);
    }
    const epoch = this.arrivals.get(tag)?.epoch ?? null;
    if (!isSent || epoch === null || this.deletions.asOf(queue, epoch) === asOf) return;
    const whose = asOf === this.deletions.latest(queue) ? "a deleted" : "another";
    this.#violates("stale map", object, `message ${tag} is stored, sent by map ${epoch} of ${whose} queue`);
  }

  #change(message: ShardMessage, after: View, commit: ShardCommit, isLeaving: boolean): void {
    const { view: before, tag, object } = message;
    if (message.state !== "live" || sameView(before, after)) return;
    const world = this.#world;
    message.changedEvent = world.loop.events;
    this.#groupEvents.set(groupKey(message), world.loop.events);
    message.sinceMs = commit.atMs;
    if (after.status === "gone") {
      if (isLeaving) this.counts.dead += 1;
      else if (this.settled.has(tag)) this.counts.acked += 1;
      else if (!this.#isPurged(message))
        this.#violates(
          "acknowledged survives in shards",
          object,
          `message ${tag} is gone, and nobody wanted that`,
        );
      world.note("message is gone", object, tag, isLeaving ? 1 : 0);
      this.#leave(message, isLeaving ? "transit" : "gone");
      message.view = after;
      return;
    }
    message.view = after;
    if (after.status === "waiting") message.sinceMs = Math.max(commit.atMs, after.atMs);
    if (after.status !== "leased" || (before.status === "leased" && before.leaseId === after.leaseId)) return;
    world.note("message is leased", object, tag, after.leaseId);
    this.#leased(message, before, commit);
  }

  #leased(message: ShardMessage, before: View, { atMs, event }: ShardCommit): void {
    const { tag, object, queue, asOf, position, view } = message;
    if (view.status !== "leased") return;
    this.counts.deliveries += 1;
    this.servedMs.set(object, atMs);
    if (before.status === "waiting" && before.atMs > atMs)
      this.#violates("due time in shards", object, `message ${tag} is leased ${before.atMs - atMs} ms early`);
    // After a deletion a send or a transfer creates the queue without a limit.
    const { maxReceivesPerSecond } = this.#world.objects.get(object)?.record?.definition ?? {};
    if (maxReceivesPerSecond !== undefined) this.#rates.add(`${queue} ${asOf}`, atMs);
    const isPaused =
      asOf === this.deletions.latest(queue) &&
      this.pauses.some((pause) => pause.queue === queue && pause.fromEvent < event && event < pause.toEvent);
    if (isPaused && view.kind !== "receive")
      this.#violates("paused in all shards", object, `message ${tag} is leased`);
    if (!this.#world.scenario.isFifo) return;
    for (const other of this.#groups.get(groupKey(message)) ?? []) {
      if (other.position >= position || other.state !== "live") continue;
      const isTogether =
        other.object === object && other.view.status === "leased" && other.view.leaseId === view.leaseId;
      if (!isTogether)
        this.#violates(
          "group order over shards",
          object,
          `message ${tag} is leased before ${other.tag} of ${other.object}`,
        );
    }
  }

  /** Whether a purge may have deleted a message and its deduplication id. */
  #isPurged({ tag, object }: Pick<ShardMessage, "tag" | "object">): boolean {
    const sentEvent = this.arrivals.get(tag)?.event ?? 0;
    return this.purges.some(
      ({ objects, endEvent }) => objects.has(object) && (endEvent === null || endEvent >= sentEvent),
    );
  }

  #leave(message: ShardMessage, state: "transit" | "gone"): void {
    if (message.state === "live") this.live -= 1;
    message.state = state;
    this.#groups.get(groupKey(message))?.delete(message);
  }

  #intoOutbox(
    object: string,
    id: number,
    item: { readonly tags: readonly number[]; readonly asOf: number },
  ): void {
    const key = `${object} ${id}`;
    this.#items.set(key, item);
    for (const tag of item.tags) {
      this.#world.note("transfer is under way", object, tag, id);
      this.messages.get(tag)?.items.add(key);
    }
  }

  #outOfOutbox(key: string, isDropped = false): void {
    for (const tag of this.#items.get(key)?.tags ?? []) {
      const message = this.messages.get(tag);
      message?.items.delete(key);
      if (message?.state !== "transit") continue;
      // The transfer may still arrive, or be confirmed.
      if (isDropped) this.#dropped.add(tag);
      if (message.items.size > 0) continue;
      message.state = "gone";
      if (!this.#dropped.has(tag))
        this.#violates("acknowledged survives in shards", key, `message ${tag} has left, and is nowhere`);
    }
    this.#items.delete(key);
  }

  #violates(...[property, object, text]: Parameters<WatchedWorld["violates"]>): void {
    this.#world.violates(property, object, text);
  }
}

/** Key of a message's group; different for queues of one name. */
function groupKey({ queue, asOf, group }: ShardMessage): string {
  return `${queue} ${asOf} ${group}`;
}
