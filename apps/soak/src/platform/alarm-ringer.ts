import type { ScheduledEvent } from "../history/virtual-loop.ts";
import type { World } from "../history/world.ts";
import type { Disk } from "./disk.ts";

/** Wait before an alarm rings again whose handler was cut off, in ms. */
const RETRY_MS = 2_000;

/** The object that has the alarm. */
interface Ringing {
  readonly name: string;
  readonly disk: Disk;
  /** Runs its handler. `done` is not called if the object ends meanwhile. */
  ring(done: () => void): void;
}

/**
 * The platform's side of the one alarm: it rings at least once for every moment that was set and became durable. While
 * its handler runs the row is still there and only goes with the handler's success, so a crash cannot lose it.
 */
export class AlarmRinger {
  readonly #world: World;
  readonly #queue: Ringing;
  /** How often it has rung. */
  rings = 0;
  #next: ScheduledEvent | null = null;
  /** The handler that runs: whether the row is to be deleted when it succeeds. */
  #handling: { deletesRow: boolean } | null = null;

  constructor(world: World, queue: Ringing) {
    this.#world = world;
    this.#queue = queue;
  }

  /** Whether something is sure to wake the queue at `atMs` or before, even if it crashed now. */
  wakesBy(atMs: number): boolean {
    const { alarmAtMs } = this.#queue.disk;
    if (alarmAtMs !== null) return alarmAtMs <= Math.max(atMs, this.#world.nowMs);
    return this.#handling?.deletesRow === true;
  }

  /** The queue sets its alarm. */
  set(atMs: number): void {
    const { disk, name } = this.#queue;
    if (!Number.isFinite(atMs)) {
      this.#world.fail("alarm armed", this.#queue, `the alarm is set to ${atMs}`);
      return;
    }
    disk.writeAlarm(atMs);
    this.#world.note("alarm is set", name, atMs - this.#world.nowMs, disk.committedVersion);
    if (this.#handling !== null) this.#handling.deletesRow = false;
    this.#schedule(0);
  }

  /** The queue's object has ended; what is durable decides when it is woken. */
  epochEnded(): void {
    const wasHandling = this.#handling !== null;
    this.#handling = null;
    this.#schedule(wasHandling ? RETRY_MS : 0);
  }

  /** Rings although nobody set it: the platform may ring twice for one moment. */
  ringAgain(): void {
    if (this.#handling === null) this.#ring(false);
  }

  #schedule(notBeforeMs: number): void {
    const { random, rates, nowMs } = this.#world;
    if (this.#next !== null) this.#next.isCancelled = true;
    this.#next = null;
    const { alarmAtMs } = this.#queue.disk;
    if (alarmAtMs === null || this.#handling !== null) return;
    let atMs = Math.max(alarmAtMs, nowMs + notBeforeMs);
    if (this.#world.fault(rates.alarmLate, "alarm late")) atMs += random.pick([50, 5_000, 90_000]);
    else if (alarmAtMs > nowMs + 10 && this.#world.fault(rates.alarmEarly, "alarm early")) {
      atMs = random.between(nowMs, alarmAtMs - 1);
    }
    this.#next = this.#world.at(atMs, () => this.#ring(true));
  }

  #ring(wasSet: boolean): void {
    const { name, disk } = this.#queue;
    if (this.#next !== null) this.#next.isCancelled = true;
    this.#next = null;
    this.rings += 1;
    const lateMs = wasSet ? this.#world.nowMs - (disk.alarmAtMs ?? 0) : 0;
    this.#world.note("alarm rings", name, lateMs, wasSet ? 0 : 1);
    const handling = { deletesRow: wasSet };
    this.#handling = handling;
    const done = () => {
      if (this.#handling !== handling) return;
      this.#handling = null;
      this.#world.note("alarm is handled", name);
      if (handling.deletesRow) this.#queue.disk.writeAlarm(null);
      this.#schedule(0);
      this.#again();
    };
    this.#queue.ring(done);
  }

  #again(): void {
    const { loop, random, rates } = this.#world;
    if (this.#world.fault(rates.alarmTwice, "alarm twice")) {
      loop.after(random.pick([0, 1, 100]), () => this.ringAgain());
    }
  }
}
