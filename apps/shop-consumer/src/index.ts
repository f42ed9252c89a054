import { WorkerEntrypoint } from "cloudflare:workers";
import type { OrderHistory } from "./history.ts";
import type { CustomerOrders } from "./report.ts";
import { settleOrders } from "./settle.ts";

export { OrderHistory } from "./history.ts";

interface Env {
  readonly HISTORY: DurableObjectNamespace<OrderHistory>;
}

/** Entrypoint for the shop, by a service binding. */
export class OrderStatus extends WorkerEntrypoint<Env> {
  /** Returns the states of a customer's orders. Orders that are still queued are unknown here. */
  async ofCustomer(customer: string): Promise<CustomerOrders> {
    return await this.env.HISTORY.getByName(customer).progress();
  }

  /** Streams the same as server-sent events: now, and after each change. */
  async followCustomer(customer: string): Promise<ReadableStream<Uint8Array>> {
    return await this.env.HISTORY.getByName(customer).follow();
  }
}

export default {
  async queue(batch, env) {
    await settleOrders(batch, env.HISTORY);
  },
} satisfies ExportedHandler<Env>;
