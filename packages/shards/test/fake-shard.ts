import {
  type EnqueuedMessage,
  type EnqueueReply,
  type EnqueueRequest,
  GROUP_MOVED,
  isFifoName,
  isWhole,
  type LookReply,
  type LookRequest,
  metricsText,
  ownerOf,
  PackedIndex,
  type PostReply,
  QUEUE_ERROR_CODES,
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
  shardOf,
} from "@sluice/protocol";
import {
  type FakeMessage,
  groupAt,
  isToken,
  joined,
  keyAt,
  lookedAt,
  readToken,
  tokenFor,
} from "./fake-messages.ts";

interface Waiting {
  readonly request: ReceiveRequest;
  answer(reply: ReceiveReply): void;
}

const NOT_FOUND = "does not exist";

/** Things that the shards of a fake queue have in common. */
export interface ShardsWorld {
  readonly queue: string;
  readonly removed: Set<string>;
  /** Calls that no caller makes. */
  readonly faults: string[];
  nextMs(): number;
  nextLease(): number;
}

/** Object of a shard that keeps the contract of docs/design/shards.md, without a store and without time. */
export class FakeShard {
  readonly name: string;
  readonly world: ShardsWorld;
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

  constructor(name: string, world: ShardsWorld) {
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

  async release(address: string, receipts: readonly string[]): Promise<number> {
    this.called(address);
    let released = 0;
    for (const receipt of receipts) {
      const message = this.leasedBy(receipt);
      if (message === undefined) continue;
      message.lease = null;
      message.receives -= 1;
      released += 1;
    }
    this.serve();
    return released;
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

function notFound(queue: string): Error {
  return new Error(`Queue "${queue}" ${NOT_FOUND}. (${QUEUE_ERROR_CODES.queueNotFound})`);
}
