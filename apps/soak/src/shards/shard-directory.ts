import { createDirectory } from "@sluice/broker";
import type { DirectoryRow } from "@sluice/broker/testing";
import { copyOf, type ObjectState, type SqlValue } from "@sluice/objects/parts";
import { isShard, type QueueRecord, shardOf } from "@sluice/protocol";
import { namespaceOf } from "../platform/bindings.ts";
import type { SimulatedStorage, Version } from "../platform/disk.ts";
import { exchange } from "../platform/network.ts";
import { type End, SimulatedObject } from "../platform/simulated-object.ts";
import type { ShardWorld } from "./shard-world.ts";

interface Note {
  readonly name: string;
  readonly row: DirectoryRow | null;
}

/** The directory of queues with shards: the broker's own class. */
export class ShardDirectory extends SimulatedObject {
  readonly #world: ShardWorld;
  /** Durable rows by name. */
  readonly durableRows = new Map<string, DirectoryRow>();

  constructor(world: ShardWorld) {
    super(world, "directory");
    this.#world = world;
  }

  /** Whether nothing is left to be told to anybody, and nothing to be asked. */
  get isDone(): boolean {
    return this.disk.isSynced && this.disk.alarmAtMs === null;
  }

  ask<Answer>(method: string, ...args: readonly unknown[]): Promise<Answer> {
    return exchange(this.#world, () => this.call<Answer>(method, ...args.map(copyOf)));
  }

  /** A change, which arrives once or not at all. @param arrived called when it does. */
  change<Answer>(method: string, args: readonly unknown[], arrived: () => void = () => {}): Promise<Answer> {
    return exchange(
      this.#world,
      () => {
        arrived();
        return this.call<Answer>(method, ...args);
      },
      false,
    );
  }

  trouble(): void {
    const { rates, random, loop } = this.#world;
    if (!random.chance(rates.crash + rates.evict)) return;
    const { instance, disk } = this;
    loop.after(random.pick([0, 0, 1, 2]), () => {
      if (instance === null || this.instance !== instance) return;
      this.#world.faults["directory crashed"] += 1;
      this.end({ how: "crashes", version: random.between(disk.durableVersion, disk.committedVersion) });
    });
  }

  protected override started(): void {
    this.#world.note("directory starts", "", this.disk.durableVersion);
  }

  protected override ended({ version }: End): void {
    this.#world.note("directory ends", "", version);
  }

  protected override writes(sql: string, [name, text]: readonly SqlValue[]): boolean {
    const isSaved = sql.startsWith("INSERT OR REPLACE INTO queues ");
    if (!isSaved && !sql.startsWith("DELETE FROM queues ")) return true;
    const row = isSaved ? (JSON.parse(String(text)) as DirectoryRow) : null;
    this.disk.current.notes.push({ name: String(name), row } satisfies Note);
    return true;
  }

  protected override construct(state: ObjectState, storage: SimulatedStorage): object {
    const leave = <Answer>(start: () => Promise<Answer>) => this.leave(storage, start);
    const env = {
      SLUICE_QUEUES: namespaceOf((name) =>
        Object.fromEntries(
          ["configure", "clear", "topicChanged", "shardState"].map((method) => [
            method,
            (...args: readonly unknown[]) => leave(() => this.#call(name, method, args)),
          ]),
        ),
      ),
    };
    const DirectoryClass = createDirectory({
      topology: { queues: {} },
      hostOf: ((ctx: ObjectState, bindings: object) =>
        this.hostOf(ctx, storage, bindings, (work) => {
          const done = ctx.blockConcurrencyWhile(work);
          this.#world.waitFor(done);
          return done;
        })) as never,
    });
    return new DirectoryClass(state as never, env as never);
  }

  protected override synced(versions: readonly Version[]): void {
    const { log, ledger } = this.#world;
    for (const { notes } of versions) {
      for (const { name, row } of notes as Note[]) {
        const before = this.durableRows.get(name);
        if (row === null) this.durableRows.delete(name);
        else this.durableRows.set(name, row);
        log.remark(
          `row of ${name}: ${row?.kind ?? "gone"} ${JSON.stringify(row?.kind === "queue" ? row.record.shards : "")}`,
        );
        if (row?.kind === "deleted" && before?.kind === "queue" && !isShard(name))
          ledger.deleted(name, row.revision);
      }
    }
  }

  async #call(name: string, method: string, args: readonly unknown[]): Promise<unknown> {
    const world = this.#world;
    const bug = world.bug?.shards;
    const { shard } = shardOf(name);
    let given = args;
    const record = method === "configure" ? (args[1] as QueueRecord) : null;
    if (record !== null && bug === "pausesAllButOne" && shard > 0)
      given = [args[0], { ...record, definition: { ...record.definition, deliveryPaused: false } }];
    const answer = await exchange(world, () =>
      world.object(name).call<unknown>(method, ...given.map(copyOf)),
    );
    if (method === "shardState") {
      if (bug === "dropsFullShards") return { ...(answer as object), isEmpty: true };
      if (bug === "passesOnUnseen") return { ...(answer as object), passesOn: false };
      if (bug === "movesTooEarly") return { ...(answer as object), keepsGroups: false };
      if (bug === "neverMoved") return { ...(answer as object), keepsGroups: true };
    }
    const { open = 1, epoch = 0 } = record?.shards ?? {};
    if (bug === "losesDelays" && shard >= open) {
      const object = world.object(name);
      const address = `${name}@${epoch}`;
      const { messages } = await object.call<{ messages: { ref: string }[] }>("look", address, { max: 100 });
      await object.call(
        "makeDue",
        address,
        messages.map(({ ref }) => ref),
      );
    }
    return answer;
  }
}
