import { encodeExtension, PackedWriter, type SendRequest } from "@sluice/protocol";
import type { QueueRpc, ShardedQueues } from "@sluice/shards";
import { untilAnswered } from "../actors/until-answered.ts";
import { stubOf } from "./isolate.ts";
import type { ShardWorld } from "./shard-world.ts";

export const GROUPS = 4;

type Isolate = ShardedQueues<keyof QueueRpc>;

/** Logical messages as one request. */
interface Draft {
  readonly logicals: readonly number[];
  readonly request: SendRequest;
}

/** Producers in several isolates, and some of an earlier version without shards. */
export class ShardSender {
  underWay = 0;
  readonly #world: ShardWorld;

  constructor(world: ShardWorld) {
    this.#world = world;
  }

  /**
   * Sends until the messages are stored, or the producer gives up.
   *
   * @param isolate `null` for a producer of the earlier version.
   * @param insists whether it never gives up.
   */
  async send(isolate: Isolate | null, insists: boolean): Promise<void> {
    this.underWay += 1;
    const draft = this.#draft();
    let attempts = 0;
    await untilAnswered(this.#world, insists, async () => {
      attempts += 1;
      try {
        if (isolate === null) await this.#sendWithoutMap(draft);
        else await this.#sendBy(isolate, draft);
      } catch (error) {
        if (insists && attempts === 1) this.#refusedInCalm(isolate === null, error);
        throw error;
      }
    });
    this.underWay -= 1;
  }

  #refusedInCalm(isOld: boolean, error: unknown): void {
    const { queue } = this.#world.scenario;
    this.#world.violates(
      isOld ? "old producers" : "a shard is away",
      queue,
      `a send fails: ${String(error)}`,
    );
  }

  async #sendBy(isolate: Isolate, { logicals, request }: Draft): Promise<void> {
    const { random, scenario, ledger } = this.#world;
    const { queue, isFifo } = scenario;
    const object = isolate.of(queue);
    const how = isFifo
      ? random.pick(["enqueue", "enqueue", "send"])
      : random.pick(["enqueue", "send", "post"]);
    if (how === "enqueue") {
      const done = await object.work(queue, { enqueue: request });
      if (!done.ok || done.enqueued?.ok !== true) throw new Error(JSON.stringify(done));
    } else if (how === "send") {
      const reply = await object.send(queue, [request]);
      if (!reply.ok) throw new Error(reply.cause);
    } else {
      const reply = await object.post(queue, [request]);
      if (typeof reply !== "string") throw new Error(reply.cause);
    }
    for (const logical of logicals) ledger.acknowledge(logical);
  }

  async #sendWithoutMap({ logicals, request }: Draft): Promise<void> {
    const { scenario, ledger } = this.#world;
    const object = stubOf(this.#world, scenario.queue) as QueueRpc;
    const reply = await object.post(scenario.queue, [request]);
    if (typeof reply !== "string") throw new Error(reply.cause);
    for (const logical of logicals) ledger.acknowledge(logical);
  }

  #draft(): Draft {
    const { random, scenario } = this.#world;
    const count = random.pick([1, 1, 2, 5]);
    const first = this.#world.takeTags(count);
    const logicals = Array.from({ length: count }, (_, i) => first + i);
    const writer = new PackedWriter();
    for (const logical of logicals) {
      const id = new Uint8Array(16);
      const body = new Uint8Array(4);
      new DataView(id.buffer).setUint32(12, logical);
      new DataView(body.buffer).setUint32(0, logical);
      const extension = scenario.isFifo
        ? encodeExtension({ groupId: `group ${random.below(GROUPS)}`, deduplicationId: `d${logical}` })
        : undefined;
      const delaySeconds = scenario.isFifo
        ? undefined
        : random.pick([undefined, undefined, undefined, 5, 200]);
      writer.append({ id, contentType: "bytes", body, delaySeconds, ...(extension && { extension }) });
    }
    return { logicals, request: { packed: writer.slice(0, writer.byteLength) } };
  }
}
