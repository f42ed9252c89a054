import type { Transfer } from "@sluice/broker/testing";
import { copyOf } from "@sluice/objects/parts";
import { type Part, type PartRequest, shardOf } from "@sluice/protocol";
import { exchange } from "../platform/network.ts";
import type { ShardWorld } from "./shard-world.ts";

const NO_NEED = { part: 0, used: 0, wanted: 0 };

/** Carries a call of one object to another. */
export async function callBetweenObjects(
  world: ShardWorld,
  from: string,
  target: string,
  method: string,
  args: readonly unknown[],
): Promise<unknown> {
  const bug = world.bug?.shards;
  const call = (given: readonly unknown[]) =>
    exchange(world, () => {
      world.note("call arrives", target, 0);
      world.log.remark(`${method} of ${target}, called by ${from}`);
      return world.object(target).call(method, ...given.map(copyOf));
    });
  if (method === "take" && bug === "passesOnTwice" && target.includes("#") && !from.includes("#")) {
    const [name, transfer] = args as [string, Transfer];
    await call([name, { ...transfer, source: `${transfer.source}*` }]);
  }
  if (method === "lendPart" && bug === "lendsToTwo" && shardOf(from).shard > 2)
    throw new Error("it does not answer");
  const answer = await call(args);
  if (method === "partOf" && bug === "forgetsParts")
    return { ...(answer as PartRequest), deliveries: NO_NEED, messages: NO_NEED };
  if (method === "lendPart" && bug === "lendsTwice") {
    const part = answer as Part;
    const twice = (lent: Part["messages"]) => lent && { ...lent, units: 2 * lent.units };
    return { ...part, deliveries: twice(part.deliveries), messages: twice(part.messages) };
  }
  return answer;
}
