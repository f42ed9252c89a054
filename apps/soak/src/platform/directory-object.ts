import {
  applyTopology,
  Changes,
  type DirectoryRow,
  Notices,
  nameOf,
  type QueueStatus,
  Registry,
} from "@sluice/broker/testing";
import type { DirectoryReply, QueueDefinition, QueueRecord } from "@sluice/protocol";
import type { ScheduledEvent } from "../history/virtual-loop.ts";
import { DirectoryLedger } from "../ledger/directory-ledger.ts";
import { Disk, type Version } from "./disk.ts";
import { exchange } from "./network.ts";
import type { QueueWorld } from "./queue-object.ts";

const GONE = new Error("The directory's object was reset.");
const DEPLOYED = "deployed";

/** From its start to its crash, the directory's object in memory. */
interface Epoch {
  readonly registry: Registry;
  readonly changes: Changes;
  isAlive: boolean;
  readonly ended: PromiseWithResolvers<never>;
}

/**
 * The one directory: the broker's own registry, notices and changes, in an object whose rows become durable later,
 * that crashes, and that is out of reach now and then.
 */
export class DirectoryObject {
  readonly ledger = new DirectoryLedger();
  readonly #world: QueueWorld;
  #disk: Disk;
  #epoch: Epoch | null = null;
  #topology: Readonly<Record<string, QueueDefinition>>;
  #deployments = 1;
  #ids = 0;
  #syncIsScheduled = false;
  #alarm: ScheduledEvent | null = null;
  readonly #versions = new Map<number, Version>();

  /** @param topology what the broker is deployed with. */
  constructor(world: QueueWorld, topology: Readonly<Record<string, QueueDefinition>>) {
    this.#world = world;
    this.#topology = topology;
    this.#disk = new Disk({
      event: () => world.loop.events,
      committed: (version) => this.#versions.set(version.number, version),
      unsynced: () => this.#scheduleSync(),
    });
  }

  /** Whether every queue's object has confirmed what it is, and everything is durable. */
  get isDone(): boolean {
    const { durableVersion, committedVersion } = this.#disk;
    return durableVersion === committedVersion && this.ledger.isEverybodyTold && this.#alarm === null;
  }

  /** A new deployment: the directory and the queues start again with another topology. */
  deploy(topology: Readonly<Record<string, QueueDefinition>>): void {
    this.#topology = topology;
    this.#deployments += 1;
    this.#end(this.#disk.committedVersion);
    this.call(async () => undefined).catch(() => {});
  }

  /** Lets `count` writes fail, after `after` more that succeed. */
  failWrites(after: number, count: number): void {
    this.#disk.failWrites(after, count);
  }

  /** A call leaves for the directory. */
  ask<Answer>(
    run: (epoch: { readonly registry: Registry }, directory: DirectoryObject) => Promise<Answer>,
  ): Promise<Answer> {
    return exchange(this.#world, () => this.call((epoch) => run(epoch, this)));
  }

  /** A call arrives. Its answer leaves when everything that was written is durable. */
  call<Answer>(run: (epoch: Epoch) => Promise<Answer>): Promise<Answer> {
    const epoch = this.#running();
    this.#trouble();
    if (!epoch.isAlive) return Promise.reject(GONE);
    const answer = run(epoch).then(async (it) => {
      await this.#durable(epoch);
      return it;
    });
    return Promise.race([epoch.ended.promise, answer]);
  }

  /** A queue's object has started, with a copy of what it was. */
  async opened(name: string, copy: QueueRecord | null): Promise<QueueStatus> {
    return this.#running().changes.opened(name, copy).status;
  }

  change(make: (registry: Registry) => DirectoryReply): Promise<DirectoryReply> {
    const epoch = this.#running();
    return epoch.changes.change(() => make(epoch.registry));
  }

  transaction<Result>(write: () => Result): Result {
    try {
      let result: Result | undefined;
      this.#disk.commit(() => {
        result = write();
      });
      return result as Result; // commit has run it, or has thrown
    } catch (error) {
      this.#end(this.#disk.committedVersion);
      throw error;
    }
  }

  /** Ends the object, with as much of what is not durable as has reached the disk. */
  crash(): void {
    if (this.#epoch === null) return;
    this.#world.faults["directory crashed"] += 1;
    this.#end(this.#world.random.between(this.#disk.durableVersion, this.#disk.committedVersion));
  }

  #running(): Epoch {
    if (this.#epoch !== null) return this.#epoch;
    const rows = [...this.#disk.notes()].flatMap(({ key, bytes }) => (key === DEPLOYED ? [] : rowIn(bytes)));
    const registry = new Registry(rows, {
      save: (row) => {
        const isForgotten = this.#world.bug?.directory === "forgetsDeletions" && row.kind === "deleted";
        const bytes = new TextEncoder().encode(JSON.stringify(row));
        this.#disk.writeNote(nameOf(row), isForgotten ? null : bytes);
      },
      erase: (name) => this.#disk.writeNote(name, null),
      now: () => this.#world.nowMs,
      newId: () => String(++this.#ids).padStart(32, "0"),
    });
    const notices = new Notices(registry, {
      configure: (name, record) => this.#tell(epoch, name, () => this.#objectOf(name).configure(record)),
      clear: (name, revision) => this.#tell(epoch, name, () => this.#objectOf(name).clear(revision)),
      transaction: (write) => {
        if (epoch.isAlive) this.transaction(write);
      },
      warn: (line) => this.#world.log.remark(line),
    });
    const changes = new Changes(registry, notices, [], {
      transaction: (write) => this.transaction(write),
      wakeAfter: async (ms) => {
        if (epoch.isAlive) this.#setAlarm(ms === null ? null : this.#world.nowMs + ms);
      },
      after: (ms) => new Promise((resolve) => this.#world.loop.after(ms, resolve)),
    });
    const ended = Promise.withResolvers<never>();
    // Nobody may be waiting.
    ended.promise.catch(() => {});
    const epoch: Epoch = { registry, changes, isAlive: true, ended };
    this.#epoch = epoch;
    this.#world.note("directory starts", "", this.#disk.durableVersion);
    this.#deploy(epoch);
    return epoch;
  }

  /** Applies the topology that the broker is deployed with, as the object does at its start. */
  #deploy({ registry, changes }: Epoch): void {
    const fingerprint = String(this.#deployments);
    const applied = [...this.#disk.notes()].find(({ key }) => key === DEPLOYED);
    const isApplied = applied !== undefined && new TextDecoder().decode(applied.bytes) === fingerprint;
    try {
      changes.start(isApplied, () => {
        applyTopology(registry, { queues: this.#topology }, (line) => this.#world.log.remark(line));
        this.#disk.writeNote(DEPLOYED, new TextEncoder().encode(fingerprint));
      });
    } catch {
      // The object is gone: its next epoch does it.
    }
  }

  #setAlarm(atMs: number | null): void {
    this.#disk.writeAlarm(atMs);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#alarm !== null) this.#alarm.isCancelled = true;
    this.#alarm = null;
    const { alarmAtMs } = this.#disk;
    if (alarmAtMs === null) return;
    this.#alarm = this.#world.at(alarmAtMs, () => {
      this.#alarm = null;
      this.call((epoch) => epoch.changes.tellAll()).catch(() => this.#schedule());
    });
  }

  #objectOf(name: string) {
    const queue = this.#world.queueNamed(name)?.registered;
    if (queue == null)
      throw new Error(`the directory knows the queue "${name}", which is none of this history`);
    return queue;
  }

  /** A call leaves for a queue's object, when what was written is durable. */
  async #tell(epoch: Epoch, name: string, tell: () => Promise<void>): Promise<void> {
    await this.#durable(epoch);
    this.#world.note("queue is told what it is", name);
    const bug = this.#world.bug?.directory;
    if (bug === "tellsNobody") return;
    const told = exchange(this.#world, tell).catch((error: unknown) => {
      if (bug !== "tellsOnce") throw error;
    });
    await inEpoch(epoch, told);
  }

  /** When what was written is durable; never if the object ends before. */
  #durable(epoch: Epoch): Promise<void> {
    return inEpoch(epoch, new Promise((resolve) => this.#disk.whenDurable(resolve)));
  }

  #trouble(): void {
    const { rates, random, loop } = this.#world;
    if (!random.chance(rates.crash + rates.evict)) return;
    const epoch = this.#epoch;
    loop.after(random.pick([0, 0, 1, 2]), () => {
      if (this.#epoch === epoch) this.crash();
    });
  }

  #scheduleSync(): void {
    if (this.#syncIsScheduled) return;
    this.#syncIsScheduled = true;
    const { random, rates, loop } = this.#world;
    const isSlow = this.#world.fault(rates.slowCommit, "slow commit");
    const disk = this.#disk;
    loop.after(random.pick(isSlow ? [50, 700, 6_000] : [0, 0, 1, 3]), () => {
      if (this.#disk !== disk) return;
      this.#syncIsScheduled = false;
      this.#enter(disk.sync(disk.committedVersion));
      this.#trouble();
      disk.releaseWaiters();
    });
  }

  #end(version: number): void {
    const epoch = this.#epoch;
    this.#epoch = null;
    this.#enter(this.#disk.sync(version));
    this.#disk = this.#disk.end();
    this.#versions.clear();
    this.#syncIsScheduled = false;
    this.#schedule();
    if (epoch === null) return;
    epoch.isAlive = false;
    this.#world.note("directory ends", "", version);
    epoch.ended.reject(GONE);
  }

  #enter(versions: readonly Version[]): void {
    for (const { writes } of versions) {
      for (const { table, key, after } of writes) {
        if (table !== "notes" || key === DEPLOYED) continue;
        const name = String(key);
        const [row = null] = after === undefined ? [] : rowIn(after as Uint8Array);
        const queue = this.#world.queueNamed(name);
        const before = this.ledger.rows.get(name) ?? null;
        const wasDeleted = this.ledger.enter(name, row);
        if (queue !== undefined) this.#world.check("registered", queue, { before, after: row, wasDeleted });
      }
    }
  }
}

/** Settles as `result` does while the object runs, and never afterwards. */
function inEpoch<Result>(epoch: Epoch, result: Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    result.then(
      (value) => epoch.isAlive && resolve(value),
      (error: unknown) => epoch.isAlive && reject(error),
    );
  });
}

function rowIn(bytes: Uint8Array): DirectoryRow[] {
  return [JSON.parse(new TextDecoder().decode(bytes)) as DirectoryRow];
}
