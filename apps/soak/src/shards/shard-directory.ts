import type { DirectoryRow } from "@sluice/broker/testing";
import { copyOf } from "@sluice/objects/parts";
import { isShard, type QueueRecord, shardOf } from "@sluice/protocol";
import { exchange } from "../platform/network.ts";
import { SimulatedDirectory } from "../platform/simulated-directory.ts";
import type { ShardWorld } from "./shard-world.ts";

/** The directory of queues with shards. */
export class ShardDirectory extends SimulatedDirectory {
  readonly #world: ShardWorld;
  /** Durable rows by name. */
  readonly durableRows = new Map<string, DirectoryRow>();

  constructor(world: ShardWorld) {
    super(world, {});
    this.#world = world;
  }

  /** Whether everything is durable, and no call to an object is left. */
  get isDone(): boolean {
    return this.disk.isSynced && this.disk.alarmAtMs === null;
  }

  override ask<Answer>(method: string, ...args: readonly unknown[]): Promise<Answer> {
    return super.ask(method, ...args.map(copyOf));
  }

  /** Calls the directory for a change, which arrives once or not at all. @param arrived called when it arrives. */
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

  protected override becameDurable(name: string, row: DirectoryRow | null): void {
    const { log, ledger } = this.#world;
    const before = this.durableRows.get(name);
    if (row === null) this.durableRows.delete(name);
    else this.durableRows.set(name, row);
    log.remark(
      `row of ${name}: ${row?.kind ?? "gone"} ${JSON.stringify(row?.kind === "queue" ? row.record.shards : "")}`,
    );
    if (row?.kind === "deleted" && before?.kind === "queue" && !isShard(name))
      ledger.deleted(name, row.revision);
  }

  protected override async notify(name: string, method: string, args: readonly unknown[]): Promise<unknown> {
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
