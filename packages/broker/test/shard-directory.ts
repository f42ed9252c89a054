import type {
  DirectoryReply,
  QueueRecord,
  QueueSettingsChange,
  ShardMap,
  ShardState,
} from "@sluice/protocol";
import { shardName, shardOf } from "@sluice/protocol";
import { Changes } from "../src/directory/changes.ts";
import { Notices } from "../src/directory/notices.ts";
import { changeQueue, createQueue, deleteQueue } from "../src/directory/queues.ts";
import { type DirectoryRow, shownRecord } from "../src/directory/row.ts";
import { ASK_SHARDS_MS, ShardAsks } from "../src/directory/shard-asks.ts";
import { isCleared, onConfigured, Registration } from "../src/object/registration.ts";
import { refuseDraining, refuseOtherMap } from "../src/shards/called-by-map.ts";
import { NO_COUNTS } from "../src/usage/month-usage.ts";
import { REGISTRY_START_MS, TestRegistry } from "./registry.ts";

/** Object of a queue or a shard, as far as maps go. */
interface ShardObject {
  registration: Registration;
  messages: number;
  /** Messages that it has taken in, which its usage says. */
  used: number;
  /** Whether it holds messages of groups that belong elsewhere. */
  keepsGroups: boolean;
  /** Shards that messages are on their way to: shard 0 passes on what is transferred to it. */
  passes: number[];
}

/**
 * A directory with the objects that it calls. It can end at any of its transactions, and objects can be away. After
 * each step it checks what must hold of maps at any time.
 */
export class ShardDirectory {
  registry: TestRegistry;
  changes: Changes;
  asks: ShardAsks;
  /** Transactions until the directory ends, in the middle of one. */
  crashAfter = Number.POSITIVE_INFINITY;
  /** Transactions that were made. */
  transactions = 0;
  /** Objects that no notice reaches. */
  readonly away = new Set<string>();
  /** Called with the name of a shard before that looks how far it is. */
  beforeState = async (_name: string): Promise<void> => {};
  /** Rounds of the event loop that a shard takes to say how far it is. */
  answersAfter = 0;
  /** Messages that objects have taken in. */
  taken = 0;
  readonly objects = new Map<string, ShardObject>();
  /** Maps that callers have learned from shard 0. */
  readonly learned: { readonly queue: string; readonly map: ShardMap | null }[] = [];
  /** Breaches of what has to hold at any time. A test expects none. */
  readonly problems: string[] = [];
  wakeAfterMs: number | null = null;
  /** The time from one start of the directory to its end. What an earlier one still does reaches nobody. */
  #life = { isOver: false };
  readonly #epochs = new Map<string, number>();
  /** Queues that were deleted by hand: what they held goes with them. */
  readonly #deletedTo = new Map<string, number>();

  constructor() {
    this.registry = new TestRegistry(new Map(), { nowMs: REGISTRY_START_MS });
    [this.asks, this.changes] = this.#start();
  }

  get hasEnded(): boolean {
    return this.#life.isOver;
  }

  /** Starts the directory again on what it has stored. */
  restart(): void {
    this.registry = this.registry.restarted();
    this.crashAfter = Number.POSITIVE_INFINITY;
    this.#life.isOver = true;
    this.#life = { isOver: false };
    [this.asks, this.changes] = this.#start();
    this.changes.start(true, () => {});
  }

  /** Loses everything that the directory has stored. */
  forget(): void {
    this.registry.rows.clear();
    this.#epochs.clear();
  }

  create(name: string, settings: QueueSettingsChange = {}): Promise<DirectoryReply | null> {
    return this.#change(() => createQueue(this.registry, { name, settings }));
  }

  set(name: string, shards: number): Promise<DirectoryReply | null> {
    const queueId = this.registry.queue(name)?.record.queueId ?? "";
    return this.#change(() => changeQueue(this.registry, queueId, { settings: { shards } }));
  }

  delete(name: string): Promise<DirectoryReply | null> {
    const queueId = this.registry.queue(name)?.record.queueId ?? "";
    return this.#change(() => {
      const reply = deleteQueue(this.registry, queueId);
      this.#deletedTo.set(name, this.registry.lastRevision);
      return reply;
    });
  }

  /** Lets the directory do what is due, until nothing is. */
  async settle(): Promise<void> {
    await this.changes.notifyAll().catch(() => {});
    // Another call may still be under way.
    for (let i = 0; i <= this.answersAfter + 2; i++) await new Promise((resolve) => setImmediate(resolve));
  }

  shown(name: string): ShardMap | undefined {
    const row = this.registry.queue(name);
    return row === undefined ? undefined : shownRecord(row).shards;
  }

  /** Names of the live rows of a queue. */
  rows(name: string): string[] {
    const rows = [this.registry.queue(name), ...this.registry.shards(name)];
    return rows.flatMap((row) => row?.record.name ?? []).sort();
  }

  object(name: string): ShardObject {
    const known = this.objects.get(name);
    if (known !== undefined) return known;
    const registration = new Registration({ kind: "absent" });
    const made: ShardObject = { registration, messages: 0, used: 0, keepsGroups: false, passes: [] };
    this.objects.set(name, made);
    return made;
  }

  /** Sends a message as a caller does that goes by a map. @returns whether it was stored. */
  send(queue: string, shard: number, map: ShardMap | null): boolean {
    const object = shardName(queue, shard);
    const { registration } = this.object(object);
    if (registration.definition === undefined) return false;
    const call = { object, epoch: map?.epoch ?? null, record: registration.record };
    try {
      refuseOtherMap(call);
      refuseDraining(call);
    } catch {
      return false;
    }
    this.#take(object);
    this.check();
    return true;
  }

  /** Transfers a message to shard 0, which passes it on by its map. */
  transfer(queue: string, shard: number): void {
    const { registration, passes } = this.object(queue);
    if (registration.definition === undefined) return;
    const owner = shard % (registration.record?.shards?.open ?? 1);
    if (owner > 0) passes.push(owner);
  }

  /** Has one message arrive that shard 0 has passed on. It waits where there is no such shard. */
  arrive(queue: string): void {
    const { passes } = this.object(queue);
    const [shard] = passes;
    const object = shard === undefined ? undefined : this.object(shardName(queue, shard));
    if (object?.registration.definition === undefined) return;
    passes.shift();
    this.#take(shardName(queue, shard ?? 0));
  }

  /** Messages that a queue has taken in, by what shard 0 knows of those that are gone and what the others say. */
  counted(queue: string): number {
    const { record } = this.object(queue).registration;
    const kept = Array.from({ length: record?.shards?.kept ?? 1 }, (_, i) =>
      this.object(shardName(queue, i)),
    );
    return kept.reduce((sum, { used }) => sum + used, record?.goneUsage?.messages ?? 0);
  }

  /** Asks shard 0 for its map. */
  learn(queue: string): ShardMap | null {
    const map = this.objects.get(queue)?.registration.record?.shards ?? null;
    this.learned.push({ queue, map });
    return map;
  }

  #take(object: string): void {
    const taking = this.object(object);
    taking.messages += 1;
    taking.used += 1;
    this.taken += 1;
  }

  async #change(make: () => DirectoryReply): Promise<DirectoryReply | null> {
    const life = this.#life;
    try {
      return await this.changes.change(make);
    } catch (error) {
      if (life.isOver) return null;
      throw error;
    }
  }

  #start(): [ShardAsks, Changes] {
    const { registry } = this;
    const life = this.#life;
    const refuseOver = () => {
      if (life.isOver) throw new Error("the directory has ended");
    };
    /** Makes all writes or none, as a database does. */
    const transaction = <Result>(write: () => Result): Result => {
      refuseOver();
      const { rows } = registry;
      const before = new Map<string, DirectoryRow>(rows);
      const result = write();
      this.transactions += 1;
      this.crashAfter -= 1;
      if (this.crashAfter < 0) {
        rows.clear();
        for (const [name, row] of before) rows.set(name, row);
        life.isOver = true;
        refuseOver();
      }
      this.check();
      return result;
    };
    const asks = new ShardAsks(registry, {
      shardState: async (name) => {
        await this.beforeState(name);
        const state = this.#state(name);
        for (let i = 0; i < this.answersAfter; i++) await new Promise((resolve) => setImmediate(resolve));
        refuseOver();
        return state;
      },
      transaction,
      now: () => registry.time.nowMs,
      warn: () => {},
    });
    const notices = new Notices(registry, {
      configure: async (name, record) => {
        refuseOver();
        this.#configure(name, record);
      },
      clear: async ({ name, revision }) => {
        refuseOver();
        this.#clear(name, revision);
        return 0;
      },
      transaction,
      log: () => {},
      warn: () => {},
    });
    const changes = new Changes(
      registry,
      { notices, others: [], asks },
      {
        transaction,
        wakeAfter: async (ms) => {
          this.wakeAfterMs = ms;
        },
        after: () => new Promise((resolve) => setImmediate(resolve)),
      },
    );
    return [asks, changes];
  }

  #reach(name: string): ShardObject {
    if (this.away.has(name)) throw new Error(`${name} is away`);
    return this.object(name);
  }

  #configure(name: string, record: QueueRecord): void {
    const object = this.#reach(name);
    const reaction = onConfigured(object.registration, record);
    if (reaction === "beginAgain") {
      this.#drop(name, record.emptyAsOf);
      this.objects.set(name, {
        registration: new Registration({ kind: "known", record }),
        messages: 0,
        used: 0,
        keepsGroups: false,
        passes: [],
      });
    } else if (reaction === "adopt") object.registration.set(record);
    this.check();
  }

  #clear(name: string, revision: number): void {
    const { registration } = this.#reach(name);
    if (!registration.noteDeleted(revision) || !isCleared(registration.record, revision)) return;
    this.#drop(name, revision);
    this.objects.set(name, {
      registration: new Registration({ kind: "absent", asOf: revision }),
      messages: 0,
      used: 0,
      keepsGroups: false,
      passes: [],
    });
    this.check();
  }

  /** Drops what an object holds, which may only go with its queue. */
  #drop(name: string, revision: number): void {
    const object = this.object(name);
    const known = object.registration.record?.revision ?? 0;
    const isOfDeleted = known <= (this.#deletedTo.get(shardOf(name).queue) ?? 0);
    if (object.messages > 0 && !isOfDeleted)
      this.problems.push(`messages of ${name} are lost at ${revision}`);
  }

  #state(name: string): ShardState {
    const { registration, messages, used, keepsGroups, passes } = this.object(name);
    const { epoch = null, open = 1 } = registration.record?.shards ?? {};
    const passesOn = passes.some((shard) => shard >= open);
    const usage = { ...NO_COUNTS, month: "2026-11", sinceMs: REGISTRY_START_MS, messages: used };
    return { epoch, isEmpty: messages === 0, keepsGroups, usage, ...(passesOn ? { passesOn } : {}) };
  }

  /** Notes what does not hold that has to hold at any time. */
  check(): void {
    for (const row of this.registry.queues()) {
      const { name, queueId, shards } = row.record;
      const own = this.objects.get(name)?.registration.record;
      const shown = shownRecord(row).shards;
      const known = own?.queueId === queueId ? own.shards : undefined;
      if (shown !== undefined && !(known !== undefined && known.epoch >= shown.epoch))
        this.problems.push(`"${name}" shows map ${shown.epoch} that shard 0 has not confirmed`);
      if (shards !== undefined && shards.epoch < (this.#epochs.get(name) ?? 0))
        this.problems.push(`"${name}" goes back to map ${shards.epoch}`);
      if (known === undefined) continue;
      for (let shard = 1; shard < known.kept; shard++) {
        const other = shardName(name, shard);
        if (this.registry.queue(other) === undefined) this.problems.push(`kept shard ${other} has no row`);
        const { registration } = this.object(other);
        if (registration.definition === undefined) this.problems.push(`kept shard ${other} does not exist`);
        if ((registration.record?.shards?.epoch ?? 0) > known.epoch)
          this.problems.push(`shard ${other} goes by a later map than shard 0`);
      }
    }
    for (const [name, { registration, messages }] of this.objects) {
      const { queue, shard } = shardOf(name);
      const row = this.registry.queue(queue);
      const own = this.objects.get(queue)?.registration.record;
      if (messages === 0 || shard === 0 || row === undefined || own?.queueId !== row.record.queueId) continue;
      if ((registration.record?.revision ?? 0) < (this.#deletedTo.get(queue) ?? 0)) continue;
      if (shard >= (own.shards?.kept ?? 1))
        this.problems.push(`shard 0 does not know of messages in ${name}`);
    }
    for (const row of this.registry.rows.values()) {
      if (row.kind !== "queue" || row.record.shards === undefined) continue;
      const { queue } = shardOf(row.record.name);
      if (shardOf(row.record.name).shard === 0) this.#epochs.set(queue, row.record.shards.epoch);
    }
  }
}

/** Makes a directory with the queue `orders`, once all of its shards know it. */
export async function withShards(shards: number, settings = {}): Promise<ShardDirectory> {
  const directory = new ShardDirectory();
  await directory.create("orders", { ...settings, shards });
  await directory.settle();
  return directory;
}

/** Lets the shards be asked again. */
export async function passInterval(directory: ShardDirectory): Promise<void> {
  directory.registry.time.nowMs += ASK_SHARDS_MS;
  await directory.settle();
}
