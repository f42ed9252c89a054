import type { Host } from "@sluice/broker";
import { Instance, type Methods, type ObjectState, type SqlValue } from "@sluice/objects/parts";
import type { ScheduledEvent } from "../world/virtual-loop.ts";
import type { World } from "../world/world.ts";
import { Disk, SimulatedStorage, type Version } from "./disk.ts";

/** Time after which an alarm rings again if its handler was cut off, in ms. */
const RETRY_MS = 2_000;

/** End of an object. */
export interface End {
  readonly how: "crashes" | "is evicted" | "breaks";
  /** Last version of its disk that is kept. */
  readonly version: number;
}

/**
 * An object on the simulated host: its disk, its running instance if there is one, and its alarm. `@sluice/objects` has
 * the class of the instance, which lets calls wait and holds answers back until the writes are durable.
 */
export abstract class SimulatedObject {
  readonly name: string;
  readonly disk: Disk;
  /** Number of times that its alarm has rung. */
  rings = 0;
  /** Whether it had a part in the running event. */
  isTouched = false;
  protected instance: Instance | null = null;
  /** The timer that was set last; cancelled once it has rung. */
  protected lastTimer: ScheduledEvent | null = null;
  readonly #world: World;
  #storage: SimulatedStorage | null = null;
  #ending: End | null = null;
  #syncIsScheduled = false;
  #alarm: ScheduledEvent | null = null;
  #isRinging = false;

  constructor(world: World, name: string) {
    this.#world = world;
    this.name = name;
    this.disk = new Disk({ event: () => world.loop.events, unsynced: () => this.#scheduleSync() });
  }

  /** Makes the object of its class. */
  protected abstract construct(state: ObjectState, storage: SimulatedStorage): object;
  /** Versions have become durable. */
  protected abstract synced(versions: readonly Version[]): void;
  protected abstract started(): void;
  /** The object has ended. @param lost number of versions that were not kept. */
  protected abstract ended(how: End["how"], lost: number): void;
  /** Draws whether the object ends soon; called at each step of it. */
  abstract trouble(): void;
  /** Whether each of its transactions may find the disk full. */
  protected readonly mayFail: boolean = false;

  get isRunning(): boolean {
    return this.instance !== null;
  }

  /** Starts the object if it does not run. */
  start(): void {
    this.#running();
  }

  /** Calls a method of the object, and starts it if it does not run. */
  call<Answer>(method: string, ...args: readonly unknown[]): Promise<Answer> {
    this.isTouched = true;
    return new Promise<unknown>((resolve, reject) => {
      const instance = this.#running();
      this.trouble();
      instance.call(method, args, resolve, reject);
    }).finally(() => {
      this.isTouched = true;
    }) as Promise<Answer>;
  }

  /** Ends the object if it runs. */
  end(end: End): void {
    this.#ending = end;
    this.instance?.close();
    this.#ending = null;
  }

  /** Whether its alarm is set for `atMs` or before: that would wake it even if it crashed now. */
  wakesBy(atMs: number): boolean {
    const { alarmAtMs } = this.disk;
    return alarmAtMs !== null && alarmAtMs <= Math.max(atMs, this.#world.nowMs);
  }

  /**
   * Makes the `Host` of the running object.
   *
   * @param env its bindings.
   * @param block its `blockConcurrencyWhile`. Default: that of the instance.
   */
  protected hostOf<Env>(
    state: ObjectState,
    storage: SimulatedStorage,
    env: Env,
    block: Host["blockConcurrencyWhile"] = (work) => state.blockConcurrencyWhile(work),
  ): Host<Env> {
    const world = this.#world;
    const remark = (text: string) => world.log.remark(text);
    return {
      id: state.id,
      env,
      // The simulated cursors and alarms have only the members that the broker uses.
      storage: storage as unknown as Host["storage"],
      clock: { now: () => world.timeOfDay.read(), alarmMsOf: (atMs) => atMs, momentOf: (atMs) => atMs },
      systemMs: () => world.timeOfDay.systemMs,
      log: { log: remark, warn: remark, error: (text) => this.error(text, storage) },
      get isOver() {
        return storage.isOver;
      },
      after: (callback, ms) => {
        this.trouble();
        const event = world.loop.after(ms + world.random.pick([0, 0, 1, 40]), () => {
          event.isCancelled = true;
          if (storage.isOver) return;
          this.isTouched = true;
          callback();
        });
        this.lastTimer = event;
        return () => {
          event.isCancelled = true;
        };
      },
      blockConcurrencyWhile: block,
      abort: (reason) => state.abort(reason),
    };
  }

  protected error(text: string, _storage: SimulatedStorage): void {
    this.#world.log.remark(text);
  }

  /**
   * Starts a call of the object once its writes are durable: the output gate. The answer is dropped if the instance has
   * ended meanwhile.
   */
  protected leave<Answer>(storage: SimulatedStorage, start: () => Promise<Answer>): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const ifAlive =
        <Value>(settle: (value: Value) => void) =>
        (value: Value) => {
          if (storage.isOver) return;
          this.isTouched = true;
          settle(value);
        };
      storage.whenDurable(() => {
        this.isTouched = true;
        start().then(ifAlive(resolve), ifAlive(reject));
      });
    });
  }

  #running(): Instance {
    if (this.instance !== null) return this.instance;
    this.started();
    const storage = new SimulatedStorage(this.disk, {
      now: () => this.#world.nowMs,
      alarmChanged: () => this.#alarmChanged(),
      writes: (sql, values) => this.writes(sql, values),
      mayFail: this.mayFail,
    });
    this.#storage = storage;
    const instance: Instance = new Instance({
      id: this.name,
      name: this.name,
      open: () => storage,
      now: () => this.#world.nowMs,
      later: (callback) => void this.#world.loop.after(0, callback),
      construct: (state) => this.construct(state, storage) as Methods,
      ended: () => this.#ended(storage),
      logError: (line) => this.#world.log.remark(line),
    });
    this.instance = instance;
    return instance;
  }

  /** Called before each write. Returns whether the write is made. */
  protected writes(_sql: string, _values: readonly SqlValue[]): boolean {
    return true;
  }

  #ended(storage: SimulatedStorage): void {
    if (this.#storage !== storage) return;
    const { disk } = this;
    const { random, rates } = this.#world;
    const mostVersion = rates.crash > 0 ? disk.committedVersion : disk.durableVersion;
    const version = random.between(disk.durableVersion, mostVersion);
    const end = this.#ending ?? { how: "breaks", version };
    this.isTouched = true;
    this.instance = null;
    this.#storage = null;
    const lost = disk.committedVersion - end.version;
    this.synced(disk.sync(end.version));
    disk.crash();
    this.#syncIsScheduled = false;
    this.ended(end.how, lost);
    const wasRinging = this.#isRinging;
    this.#isRinging = false;
    this.#schedule(wasRinging ? RETRY_MS : 0);
  }

  #scheduleSync(): void {
    if (this.#syncIsScheduled) return;
    this.#syncIsScheduled = true;
    const { random, rates, loop } = this.#world;
    const isSlow = this.#world.fault(rates.slowCommit, "slow commit");
    const afterMs = random.pick(isSlow ? [50, 700, 6_000] : [0, 0, 1, 3]);
    this.trouble();
    const storage = this.#storage;
    loop.after(afterMs, () => {
      if (this.#storage === storage) this.#sync();
    });
  }

  #sync(): void {
    const { disk } = this;
    this.isTouched = true;
    this.#syncIsScheduled = false;
    if (disk.isSynced) return;
    const version = this.#world.random.between(disk.durableVersion + 1, disk.committedVersion);
    this.#world.note("durable", this.name, version);
    this.synced(disk.sync(version));
    if (!disk.isSynced) this.#scheduleSync();
    this.trouble();
    disk.releaseWaiters();
  }

  #alarmChanged(): void {
    const { alarmAtMs, committedVersion } = this.disk;
    if (alarmAtMs !== null)
      this.#world.note("alarm is set", this.name, alarmAtMs - this.#world.nowMs, committedVersion);
    this.#schedule(0);
  }

  /** Schedules the alarm that is set. @param waitMsMin shortest time until it rings, in ms. */
  #schedule(waitMsMin: number): void {
    const { random, rates, nowMs } = this.#world;
    if (this.#alarm !== null) this.#alarm.isCancelled = true;
    this.#alarm = null;
    const { alarmAtMs } = this.disk;
    if (alarmAtMs === null || this.#isRinging) return;
    let atMs = Math.max(alarmAtMs, nowMs + waitMsMin);
    if (this.#world.fault(rates.alarmLate, "alarm late")) atMs += random.pick([50, 5_000, 90_000]);
    else if (alarmAtMs > nowMs + 10 && this.#world.fault(rates.alarmEarly, "alarm early")) {
      atMs = random.between(nowMs, alarmAtMs - 1);
    }
    this.#alarm = this.#world.at(atMs, () => void this.#ring(true));
  }

  /** @param wasSet whether the alarm was set: the platform may ring a second time for one setting. */
  async #ring(wasSet: boolean): Promise<void> {
    if (this.#alarm !== null) this.#alarm.isCancelled = true;
    this.#alarm = null;
    this.rings += 1;
    this.isTouched = true;
    const lateMs = wasSet ? this.#world.nowMs - (this.disk.alarmAtMs ?? 0) : 0;
    this.#world.note("alarm rings", this.name, lateMs, wasSet ? 0 : 1);
    this.#isRinging = true;
    try {
      const instance = this.#running();
      const storage = this.#storage;
      if (storage !== null) storage.isRingSet = wasSet;
      this.trouble();
      await instance.ring();
      // Like a call, it has resolved only when everything written is durable.
      if (this.#storage !== storage) return;
    } catch {
      // The object has ended, and `#ended` has scheduled the next ring.
      return;
    }
    this.#isRinging = false;
    this.isTouched = true;
    this.#world.note("alarm is handled", this.name);
    this.#schedule(0);
    const { loop, random, rates } = this.#world;
    if (!this.#world.fault(rates.alarmTwice, "alarm twice")) return;
    loop.after(random.pick([0, 1, 100]), () => {
      if (!this.#isRinging) void this.#ring(false);
    });
  }
}
