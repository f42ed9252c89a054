import { inPlace, isWhole, shardName, shardOf } from "@sluice/protocol";
import type { ShardPorts } from "../../queue/queue-part.ts";
import { Lender } from "../../shards/lender.ts";
import { limitsOf } from "../../shards/limits.ts";
import type { IdentifiedQueue } from "./identify-queue.ts";

/** Makes the lender by which shard 0 lends the limits of its queue to all shards. */
export function lenderOf(queue: IdentifiedQueue): Lender {
  const { host, registration } = queue;
  return new Lender({
    now: () => host.clock.now(),
    limits: () => limitsOf(registration.definition),
    others: () => {
      const kept = registration.record?.shards?.kept ?? 1;
      return Array.from({ length: kept - 1 }, (_, i) => i + 1);
    },
    emptyAsOf: () => registration.record?.emptyAsOf ?? 0,
    partOf: (shard, lender) => {
      const name = shardName(shardOf(queue.name).queue, shard);
      return objectOf(queue, name).partOf(name, lender);
    },
  });
}

/** Makes the way of a queue's object to the other shards. */
export function shardPortsOf(queue: IdentifiedQueue, lender: () => Lender): ShardPorts {
  const { host, registration } = queue;
  const own = shardOf(queue.name);
  return {
    index: () => {
      const map = registration.record?.shards;
      return map === undefined || isWhole(map) ? null : own.shard;
    },
    lend: (request) => {
      if (own.shard === 0) return lender().lend(request);
      const epoch = registration.record?.shards?.epoch;
      const asked = epoch === undefined ? request : { ...request, epoch };
      return objectOf(queue, own.queue).lendPart(own.queue, asked);
    },
    now: () => host.clock.now(),
  };
}

function objectOf({ host, registration }: IdentifiedQueue, name: string) {
  const namespace = inPlace(host.env.SLUICE_QUEUES, registration.record?.place);
  return namespace.get(namespace.idFromName(name));
}
