import type { QueueDamage } from "@sluice/protocol";
import type { DamageRecord } from "../src/store/store.ts";
import { copyOf, emptyTables, TableStore, type Tables } from "./table-store.ts";

/** Error that the k-th write fails with. */
export class WriteFailure extends Error {
  override readonly name = "WriteFailure";
}

/**
 * A queue's store in memory, with what makes a disk a disk: what is committed is not durable yet, a crash takes away
 * what is not, a write can fail, and after a crash the old process reaches nothing any more.
 */
export class MemoryStore extends TableStore implements DamageRecord {
  #durable: Tables;
  #held = false;
  #waiters: (() => void)[] = [];
  #writesUntilFailure = Infinity;
  /** Commits that wrote something. */
  commits = 0;

  constructor(tables: Tables = emptyTables()) {
    super(tables);
    this.#durable = copyOf(tables);
  }

  // What a test does to the disk.

  /** Lets nothing become durable until `release`. */
  hold(): void {
    this.#held = true;
  }

  /** Makes everything committed durable, and what comes later at once. */
  release(): void {
    this.#held = false;
    this.syncNow();
  }

  /** Makes what is committed by now durable; a hold stays. */
  syncNow(): void {
    this.#durable = copyOf(this.tables);
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const resolve of waiters) resolve();
  }

  /** Calls of `synced` that have not resolved. */
  get waiting(): number {
    return this.#waiters.length;
  }

  /** The k-th write from now on fails, once; 1 is the next one. */
  failWrite(k: number): void {
    this.#writesUntilFailure = k;
  }

  /** Ends this epoch. Answers with the store of the next one, which has what was durable. */
  crash(): MemoryStore {
    this.hasEnded = true;
    return new MemoryStore(this.#durable);
  }

  /** Changes stored bytes behind the queue's back: damage. */
  damage(change: (tables: Tables) => void): void {
    change(this.tables);
    change(this.#durable);
  }

  // What the queue does.

  synced(): Promise<void> {
    if (this.hasEnded) return new Promise(() => {});
    if (!this.#held) {
      this.syncNow();
      return Promise.resolve();
    }
    return new Promise((resolve) => this.#waiters.push(resolve));
  }

  readDamage(): readonly QueueDamage[] {
    return JSON.parse(String(this.meta("damage") ?? "[]")) as QueueDamage[];
  }

  writeDamage(damage: readonly QueueDamage[]): void {
    this.write("meta", "damage", JSON.stringify(damage));
  }

  protected override committed(): void {
    this.commits += 1;
  }

  protected override beforeWrite(): void {
    this.#writesUntilFailure -= 1;
    if (this.#writesUntilFailure === 0) throw new WriteFailure("the disk failed");
  }
}
