import {
  type EnqueuedMessage,
  type EnqueueReply,
  type EnqueueRequest,
  GROUP_MOVED,
  isFifoName,
  isWhole,
  type LookedAt,
  type LookReply,
  type LookRequest,
  metricsText,
  ownerOf,
  PackedIndex,
  type PostReply,
  packMessages,
  QUEUE_ERROR_CODES,
  QueueObjects,
  type QueueWork,
  type ReceiveNowReply,
  type ReceiveReply,
  type ReceiveRequest,
  type RpcFailure,
  readShardAddress,
  type SendReply,
  type SendRequest,
  type ShardMap,
  ShardMapError,
  shardMapText,
  shardName,
  shardOf,
  TOKEN_LENGTH,
} from "@sluice/protocol";
import { QUEUE_RULES, type QueueRpc, ShardedQueues } from "../src/index.ts";

/** Message in a fake shard. */
export interface FakeMessage {
  readonly id: string;
  readonly group: string;
  readonly sentMs: number;
  readonly packed: Uint8Array;
  /** Number of the receive that has it; `null` while it waits. */
  lease: number | null;
  receives: number;
}

interface Waiting {
  readonly request: ReceiveRequest;
  answer(reply: ReceiveReply): void;
}

const NOT_FOUND = "does not exist";

/** Object of a shard that keeps the contract of docs/design/shards.md, without a store and without time. */
export class FakeShard {
  readonly name: string;
  readonly world: FakeQueue;
  map: ShardMap | null = null;
  exists = true;
  messages: FakeMessage[] = [];
  /** Groups that it holds none of and takes none of any more, by the epoch. */
  readonly moved = new Set<string>();
  readonly known = new Map<string, EnqueuedMessage>();
  readonly attempts = new Map<string, readonly FakeMessage[]>();
  waiting: Waiting[] = [];
  refusal: RpcFailure | null = null;
  seq = 0;

  constructor(name: string, world: FakeQueue) {
    this.name = name;
    this.world = world;
  }

  get shard(): number {
    return shardOf(this.name).shard;
  }

  get waitingMessages(): FakeMessage[] {
    return this.messages.filter(({ lease }) => lease === null);
  }

  /** Refuses a caller as an object does. */
  called(address: string, isSend = false): void {
    const { object, epoch } = readShardAddress(address);
    if (object !== this.name) throw new Error(`"${this.name}" is called as "${object}"`);
    if (!this.exists) throw notFound(this.world.queue);
    if (this.map === null) return;
    const isOther = epoch === null ? this.shard > 0 || !isWhole(this.map) : epoch < this.map.epoch;
    if (isOther && !(isSend && epoch === null && this.shard === 0)) {
      throw new ShardMapError(this.world.queue, this.map);
    }
  }

  async post(address: string, requests: readonly SendRequest[]): Promise<PostReply> {
    const reply = await this.send(address, requests);
    if (!reply.ok) return reply;
    const text = metricsText(reply.metrics);
    return reply.shards === undefined ? text : `${text} ${shardMapText(reply.shards)}`;
  }

  async send(address: string, requests: readonly SendRequest[]): Promise<SendReply> {
    this.called(address, true);
    if (this.refusal !== null) return this.refusal;
    const isOfNoMap = readShardAddress(address).epoch === null && this.map !== null && !isWhole(this.map);
    for (const request of requests) {
      const reply = isOfNoMap ? this.store(new PackedIndex(request.packed)) : this.enqueue(address, request);
      if (reply.ok === false) return reply;
    }
    const metrics = await this.ownMetrics();
    return { ok: true, metrics, ...(isOfNoMap && this.map !== null ? { shards: this.map } : {}) };
  }

  enqueue(address: string, { packed }: EnqueueRequest): EnqueueReply {
    if (this.refusal !== null) return this.refusal;
    const index = new PackedIndex(packed);
    const isOfLaterMap = (readShardAddress(address).epoch ?? 0) > (this.map?.epoch ?? 0);
    if (!isFifoName(this.world.queue) || isOfLaterMap) return this.store(index);
    const groups = Array.from({ length: index.count }, (_, i) => groupAt(index, i));
    for (const [i, group] of groups.entries()) {
      if (this.map === null || ownerOf(group, this.map.open) === this.shard) continue;
      if (this.map.before === undefined || ownerOf(group, this.map.before) !== this.shard) {
        this.world.faults.push(`${this.name} was sent group ${group}`);
      }
      const isKnown = this.known.has(keyAt(index, i) ?? "");
      const holds = this.messages.some((message) => message.group === group);
      if (isKnown || (holds && !this.moved.has(group))) continue;
      this.moved.add(group);
      return { ok: false, code: GROUP_MOVED, cause: "the group has moved" };
    }
    return this.store(index);
  }

  store(index: PackedIndex): EnqueueReply {
    const outcomes: EnqueuedMessage[] = [];
    for (let i = 0; i < index.count; i++) {
      const key = keyAt(index, i);
      const first = key === null ? undefined : this.known.get(key);
      if (first !== undefined) {
        outcomes.push({ ...first, duplicate: true });
        continue;
      }
      this.seq += 1;
      const outcome = { messageId: index.id(i), sequenceNumber: String(this.seq), duplicate: false };
      outcomes.push(outcome);
      if (key !== null) this.known.set(key, outcome);
      this.messages.push({
        id: index.id(i),
        group: groupAt(index, i),
        sentMs: this.world.nextMs(),
        packed: index.records(i, i + 1).slice(),
        lease: null,
        receives: 0,
      });
    }
    this.serve();
    return { ok: true, messages: isFifoName(this.world.queue) ? outcomes : null };
  }

  async work(address: string, work: QueueWork) {
    this.called(address);
    const removed = work.remove?.map((receipt) => this.remove(receipt));
    const changed = work.change?.map(({ receipt }) => this.change(receipt));
    const enqueued = work.enqueue && this.enqueue(address, work.enqueue);
    const received = work.receive?.map((request) => this.receiveNow(request));
    return {
      ok: true as const,
      ...(enqueued && { enqueued }),
      ...(received && { received }),
      ...(removed && { removed }),
      ...(changed && { changed }),
    };
  }

  receiveNow({ max, attemptId, onlyRepeated = false }: ReceiveRequest): ReceiveNowReply {
    const again = attemptId === undefined ? undefined : this.attempts.get(attemptId);
    if (again?.some(({ lease }) => lease !== null)) return this.replyWith([...again]);
    if (onlyRepeated) return { kind: "empty" };
    const taken = this.available.slice(0, max);
    if (taken.length === 0) return { kind: "empty" };
    for (const message of taken) {
      message.lease = this.world.nextLease();
      message.receives += 1;
    }
    if (attemptId !== undefined) this.attempts.set(attemptId, taken);
    return this.replyWith(taken);
  }

  /** Messages that may be received: of a FIFO queue those of groups of which none is leased. */
  get available(): FakeMessage[] {
    if (!isFifoName(this.world.queue)) return this.waitingMessages;
    const held = new Set(this.messages.filter(({ lease }) => lease !== null).map(({ group }) => group));
    return this.waitingMessages.filter(({ group }) => !held.has(group));
  }

  replyWith(messages: readonly FakeMessage[]): ReceiveReply {
    return {
      kind: "received",
      packed: joined(messages.map(({ packed }) => packed)),
      receipts: messages.map((message) => tokenFor(message.id, message.lease ?? 0)),
      receiveCounts: messages.map(({ receives }) => receives),
      firstReceivedMs: messages.map(() => 0),
      sequenceNumbers: null,
    };
  }

  async receive(address: string, request: ReceiveRequest): Promise<ReceiveReply> {
    this.called(address);
    const now = this.receiveNow(request) as ReceiveReply;
    if (now.kind === "received" || request.waitMs === 0) return now;
    return new Promise((answer) => this.waiting.push({ request, answer }));
  }

  /** Gives messages to those who wait. */
  serve(): void {
    const waiting = this.waiting;
    this.waiting = [];
    for (const one of waiting) {
      const reply = this.receiveNow(one.request) as ReceiveReply;
      if (reply.kind === "received") one.answer(reply);
      else this.waiting.push(one);
    }
  }

  /** Ends the waits of receivers at their time. */
  endWaits(isEnded: (request: ReceiveRequest) => boolean = () => true): void {
    const ended = this.waiting.filter(({ request }) => isEnded(request));
    this.waiting = this.waiting.filter(({ request }) => !isEnded(request));
    for (const { answer } of ended) answer({ kind: "empty" });
  }

  async cancelReceive(address: string, receiverId: string): Promise<void> {
    this.called(address);
    this.endWaits((request) => request.receiverId === receiverId);
  }

  async release(address: string, receipts: readonly string[]): Promise<void> {
    this.called(address);
    for (const receipt of receipts) {
      const message = this.leasedBy(receipt);
      if (message === undefined) continue;
      message.lease = null;
      message.receives -= 1;
    }
    this.serve();
  }

  async pull(address: string, { max = 5 }: { readonly max?: number }) {
    this.called(address);
    const reply = this.receiveNow({ max });
    const { packed, receipts, receiveCounts } =
      reply.kind === "received" ? reply : { packed: new Uint8Array(), receipts: [], receiveCounts: [] };
    const metrics = await this.ownMetrics();
    return { ok: true as const, batch: { packed, attempts: receiveCounts, leaseIds: receipts, metrics } };
  }

  async settleLeases(
    address: string,
    settlement: {
      readonly acks: readonly string[];
      readonly retries: readonly { readonly leaseId: string }[];
    },
  ) {
    this.called(address);
    const warnings: [string, string][] = [];
    const counts = { ackCount: 0, retryCount: 0 };
    for (const leaseId of settlement.acks) {
      if (this.remove(leaseId) === "deleted" && this.wasThere) counts.ackCount += 1;
      else warnings.push([leaseId, "is gone"]);
    }
    for (const { leaseId } of settlement.retries) {
      if (this.change(leaseId) === "changed") counts.retryCount += 1;
      else warnings.push([leaseId, "is gone"]);
    }
    return { ...counts, warnings };
  }

  wasThere = false;

  remove(receipt: string) {
    if (!isToken(receipt)) return "invalid" as const;
    const { id } = readToken(receipt);
    const before = this.messages.length;
    this.messages = this.messages.filter((message) => message.id !== id);
    this.wasThere = this.messages.length < before;
    if (!this.wasThere && !this.world.removed.has(id)) this.world.faults.push(`${this.name} has no ${id}`);
    this.world.removed.add(id);
    this.serve();
    return "deleted" as const;
  }

  change(receipt: string) {
    if (!isToken(receipt)) return "invalid" as const;
    const message = this.leasedBy(receipt);
    if (message === undefined) return "gone" as const;
    message.lease = null;
    return "changed" as const;
  }

  leasedBy(receipt: string): FakeMessage | undefined {
    const { id, lease } = readToken(receipt);
    return this.messages.find((message) => message.id === id && message.lease === lease);
  }

  async deleteByRefs(address: string, refs: readonly string[]) {
    this.called(address);
    const warnings: [string, string][] = [];
    let deleted = 0;
    for (const ref of refs) {
      if (isToken(ref) && this.remove(ref) === "deleted" && this.wasThere) deleted += 1;
      else warnings.push([ref, "is gone"]);
    }
    return { deleted, warnings };
  }

  async makeDue(address: string, refs: readonly string[]) {
    this.called(address);
    return refs.map((ref) => {
      const { id } = readToken(ref);
      const message = this.messages.find((one) => one.id === id);
      if (message === undefined) return "gone" as const;
      if (message.lease === null) return "wasDue" as const;
      message.lease = null;
      return "due" as const;
    });
  }

  async purge(address: string) {
    this.called(address);
    const purged = this.messages.length;
    for (const { id } of this.messages) this.world.removed.add(id);
    this.messages = [];
    return { purged };
  }

  async metrics(address: string) {
    this.called(address);
    return this.ownMetrics();
  }

  async ownMetrics() {
    const waiting = this.waitingMessages;
    return {
      backlogCount: waiting.length,
      backlogBytes: waiting.reduce((sum, { packed }) => sum + packed.byteLength, 0),
      oldestMessageTimestampMs: waiting.length === 0 ? 0 : Math.min(...waiting.map(({ sentMs }) => sentMs)),
    };
  }

  async messageCounts(address: string) {
    this.called(address);
    const visible = this.waitingMessages.length;
    return { visible, notVisible: this.messages.length - visible, delayed: 0 };
  }

  async look(address: string, { max, cursor, only, countsAll = false }: LookRequest): Promise<LookReply> {
    this.called(address);
    const names = only?.map((name) => (isToken(name) ? readToken(name).id : name));
    const after = cursor === undefined ? -1 : Number(cursor.split("-")[1]);
    const of = this.messages.length;
    const places = [...this.messages.keys()].filter(
      (i) => i > after && (names === undefined || names.includes(this.messages[i]?.id ?? "")),
    );
    const shown = places.slice(0, max);
    const last = countsAll ? (places.at(-1) ?? -1) : (shown.at(-1) ?? of);
    const isEnd = countsAll || shown.length < max || last >= of - 1;
    return {
      messages: shown.map((i) => lookedAt(this.messages[i] as FakeMessage)),
      matched: countsAll ? places.length : shown.length,
      cursor: isEnd ? null : `0-${last}-${last + 1}`,
      searched: isEnd ? of : last + 1,
      of,
    };
  }
}

/** A queue of fake shards, and the directory's part: the map changes step by step. */
export class FakeQueue {
  readonly queue: string;
  readonly objects = new Map<string, FakeShard>();
  readonly removed = new Set<string>();
  /** Calls that no caller makes. */
  readonly faults: string[] = [];
  readonly calls: { readonly name: string; readonly method: string; readonly args: readonly unknown[] }[] =
    [];
  /** Called before each call of an object. It may change the map, and throw in place of the call. */
  beforeCall: (name: string, method: string) => void = () => {};
  /** Whether the answer of a call is lost. */
  isLost: (name: string, method: string) => boolean = () => false;
  /** How often deduplication ids were forgotten. */
  expired = 0;
  #ms = 0;
  #lease = 0;

  constructor(queue: string) {
    this.queue = queue;
    this.objects.set(queue, new FakeShard(queue, this));
  }

  nextMs(): number {
    this.#ms += 1;
    return this.#ms;
  }

  nextLease(): number {
    this.#lease += 1;
    return this.#lease;
  }

  shard(number: number): FakeShard {
    const name = shardName(this.queue, number);
    let object = this.objects.get(name);
    if (object === undefined) {
      object = new FakeShard(name, this);
      object.exists = false;
      this.objects.set(name, object);
    }
    return object;
  }

  get shards(): FakeShard[] {
    return [...this.objects.values()].filter(({ exists }) => exists);
  }

  get messages(): FakeMessage[] {
    return this.shards.flatMap(({ messages }) => messages);
  }

  /** The map of shard 0: what a caller learns. */
  get map(): ShardMap {
    return this.shard(0).map ?? { epoch: 0, open: 1, kept: 1 };
  }

  /** Changes the number of shards: shards that know it are told later, by `tell`. */
  open(open: number): void {
    const { map, shards } = this;
    const groups = isFifoName(this.queue) && map.open !== open ? { before: map.open } : {};
    const kept = Math.max(open, ...shards.map(({ shard }) => shard + 1));
    const next: ShardMap = { epoch: map.epoch + 1, open, kept, ...groups };
    for (let shard = 1; shard < kept; shard++) {
      const object = this.shard(shard);
      if (object.exists) continue;
      object.exists = true;
      object.map = next;
    }
    this.shard(0).map = next;
  }

  /** Tells a shard the map. */
  tell(shard: number): void {
    const object = this.shard(shard);
    if (object.exists && this.map.epoch > 0) object.map = this.map;
  }

  /** Removes the last shard if it is draining, knows it and is empty. */
  removeDrained(): void {
    const { map } = this;
    const last = this.shard(map.kept - 1);
    const isDrained =
      last.messages.length === 0 && last.map?.epoch === map.epoch && last.waiting.length === 0;
    if (map.kept <= map.open || !isDrained || map.before !== undefined) return;
    this.shard(0).map = { ...map, epoch: map.epoch + 1, kept: map.kept - 1 };
    last.exists = false;
  }

  /** Ends the move of groups if all are where they belong. */
  endMove(): void {
    const { map } = this;
    if (map.before === undefined) return;
    const knowIt = this.shards.every((object) => object.map?.epoch === map.epoch);
    const isDone = this.shards.every(({ shard, messages }) =>
      messages.every(({ group }) => ownerOf(group, map.open) === shard),
    );
    const areForgotten = this.shards.every(({ shard, known }) =>
      [...known.keys()].every((key) => ownerOf(key.split(" ")[0] ?? "", map.open) === shard),
    );
    if (!knowIt || !isDone || !areForgotten) return;
    const { before: _, ...rest } = map;
    for (const object of this.shards) object.moved.clear();
    this.shard(0).map = { ...rest, epoch: map.epoch + 1 };
  }

  /** Five minutes pass: deduplication ids are forgotten. */
  expire(): void {
    this.expired += 1;
    for (const object of this.objects.values()) object.known.clear();
  }

  /** Makes what a caller finds queues by. */
  callers(random: () => number = () => 0, rules = QUEUE_RULES): ShardedQueues<keyof QueueRpc> {
    const objects = new QueueObjects<QueueRpc>({
      namespace: () => ({ getByName: (name) => this.#stub(name) }),
      placeOf: async () => null,
    });
    return new ShardedQueues(objects, rules, { random, now: () => this.#ms });
  }

  of(random?: () => number): QueueRpc {
    return this.callers(random).of(this.queue);
  }

  #stub(name: string): QueueRpc {
    return new Proxy({} as QueueRpc, {
      get:
        (_, method: string) =>
        async (...args: readonly unknown[]) => {
          await Promise.resolve();
          this.calls.push({ name, method, args });
          this.beforeCall(name, method);
          const object = this.shard(shardOf(name).shard) as unknown as Record<string, unknown>;
          const answer = await Reflect.apply(object[method] as () => unknown, object, args);
          if (this.isLost(name, method)) throw new Error("the answer is lost");
          return answer;
        },
    });
  }
}

function notFound(queue: string): Error {
  return new Error(`Queue "${queue}" ${NOT_FOUND}. (${QUEUE_ERROR_CODES.queueNotFound})`);
}

let made = 0;

/** Packs messages: each of a group, with a deduplication id if one is named. */
export function packed(
  ...messages: readonly { readonly group?: string; readonly dedup?: string }[]
): Uint8Array {
  return packMessages(
    messages.map(({ group, dedup }) => {
      made += 1;
      return {
        id: made.toString(16).padStart(32, "0"),
        contentType: "text" as const,
        body: new TextEncoder().encode(String(made)),
        ...(group === undefined
          ? {}
          : { extension: { groupId: group, ...(dedup === undefined ? {} : { deduplicationId: dedup }) } }),
      };
    }),
  );
}

function groupAt(index: PackedIndex, i: number): string {
  return index.hasExtension(i) ? (index.extension(i).groupId ?? "") : "";
}

function keyAt(index: PackedIndex, i: number): string | null {
  const dedup = index.hasExtension(i) ? index.extension(i).deduplicationId : undefined;
  return dedup === undefined ? null : `${groupAt(index, i)} ${dedup}`;
}

/** Token of a message, of the length of real ones: the end of the id and a lease. */
export function tokenFor(id: string, lease: number): string {
  return `${id.slice(-16)}${String(lease).padStart(TOKEN_LENGTH - 16, "0")}`;
}

function isToken(text: string): boolean {
  return text.length === TOKEN_LENGTH;
}

function readToken(text: string): { readonly id: string; readonly lease: number } {
  return { id: text.slice(0, 16).padStart(32, "0"), lease: Number(text.slice(16)) };
}

function lookedAt(message: FakeMessage): LookedAt {
  return {
    id: message.id,
    ref: tokenFor(message.id, 0),
    state: message.lease === null ? "ready" : "leased",
    attempts: message.receives,
    sentMs: message.sentMs,
    atMs: message.sentMs,
    keptUntilMs: message.sentMs,
    contentType: "text",
    bodyBytes: 0,
    body: new Uint8Array(),
    group: message.group,
    attributes: null,
    from: null,
    why: { reason: "dueNow", text: "", untilMs: null, by: null },
  };
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}
