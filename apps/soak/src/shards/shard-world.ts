import type { Delivery, DeliveryResult, QueueRecord } from "@sluice/protocol";
import type { StoredRows } from "../platform/commits.ts";
import type { Disk } from "../platform/disk.ts";
import { World, type WorldParts } from "../world/world.ts";
import { ShardLedger } from "./shard-ledger.ts";
import type { ShardProperty } from "./shard-properties.ts";
import type { ShardScenario } from "./shard-scenario.ts";

/** The object of a shard, as its callers use it. */
export interface CalledShard {
  readonly name: string;
  readonly record: QueueRecord | null;
  readonly epoch: number;
  readonly isAlive: boolean;
  readonly disk: Disk;
  readonly rows: Pick<StoredRows, "record">;
  overloadedUntilMs: number;
  awayUntilMs: number;
  call<Answer>(method: string, ...args: readonly unknown[]): Promise<Answer>;
  crash(): void;
  /** Records whether delivery is paused now. Returns the last event in which it was recorded as paused. */
  notePaused(): number;
}

interface AskedDirectory {
  ask<Answer>(method: string, ...args: readonly unknown[]): Promise<Answer>;
}

interface CalledWorker {
  deliver(object: CalledShard, epoch: number, delivery: Delivery): Promise<DeliveryResult>;
}

/** A world whose queues have shards: their objects, the directory, and the ledger. */
export class ShardWorld extends World {
  readonly scenario: ShardScenario;
  readonly ledger: ShardLedger;
  readonly objects = new Map<string, CalledShard>();
  /** Tag of the message of each receipt or lease id, by object and token. */
  readonly tagOfToken = new Map<string, number>();
  /** True once nothing goes wrong any more and the queue is not changed any more. */
  isRestored = false;
  directory: AskedDirectory | null = null;
  worker: CalledWorker | null = null;
  readonly #watched: ReadonlySet<string>;
  #calls = 0;
  readonly #newObject: (world: ShardWorld, name: string) => CalledShard;

  /**
   * @param watched properties that are checked.
   * @param newObject makes the object of a name.
   */
  constructor(
    parts: WorldParts,
    scenario: ShardScenario,
    watched: readonly string[],
    newObject: (world: ShardWorld, name: string) => CalledShard,
  ) {
    super(parts);
    this.#newObject = newObject;
    this.scenario = scenario;
    this.#watched = new Set(watched);
    this.ledger = new ShardLedger(this);
  }

  /** The object of a name, made at its first call. */
  object(name: string): CalledShard {
    let object = this.objects.get(name);
    if (object === undefined) {
      object = this.#newObject(this, name);
      this.objects.set(name, object);
    }
    return object;
  }

  nextCall(): number {
    this.#calls += 1;
    return this.#calls;
  }

  /** Ends the history with a violation, if the property is watched. */
  violates(property: ShardProperty, name: string, text: string): void {
    if (this.#watched.has(property)) this.fail(property, { name }, text);
  }
}
