import { WorkerEntrypoint } from "cloudflare:workers";
import type { BrokerEnv } from "@sluice/broker";
import { createBindingApp } from "@sluice/gateway";
import { queueObjectsOf, shardedQueuesOf } from "./queue-objects.ts";

/** Properties of a binding: `props` of its service designator. */
interface QueueBindingProps {
  readonly queue?: unknown;
}

const app = createBindingApp();
/** Queues of the broker: the isolate keeps what it learns of their shards. */
let queues: ReturnType<typeof shardedQueuesOf> | undefined;

/**
 * Entrypoint that workerd's own `queue` binding talks to (spec cloudflare-queues 1.7, 1.8). In a workerd configuration:
 *
 * ```
 * (name = "ORDERS", queue = (name = "sluice", entrypoint = "QueueBinding", props = (json = "{\"queue\": \"orders\"}")))
 * ```
 */
export class QueueBinding extends WorkerEntrypoint<BrokerEnv, QueueBindingProps> {
  override async fetch(request: Request): Promise<Response> {
    const { queue } = this.ctx.props;
    queues ??= shardedQueuesOf(queueObjectsOf(this.env));
    const known = queues;
    return app.fetch(request, {
      queue,
      broker: {
        send: (name, requests) => known.of(name).send(name, requests),
        metrics: (name) => known.of(name).metrics(name),
      },
    });
  }
}
