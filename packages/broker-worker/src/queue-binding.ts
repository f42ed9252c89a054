import { WorkerEntrypoint } from "cloudflare:workers";
import type { BrokerEnv } from "@sluice/broker";
import { createBindingApp } from "@sluice/gateway";
import { queueObjectsOf } from "./queue-objects.ts";

/** Properties of a binding: `props` of its service designator. */
interface QueueBindingProps {
  readonly queue?: unknown;
}

const app = createBindingApp();

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
    const objects = queueObjectsOf(this.env);
    return app.fetch(request, {
      queue,
      broker: {
        send: (name, requests) => objects.of(name).send(name, requests),
        metrics: (name) => objects.of(name).metrics(name),
      },
    });
  }
}
