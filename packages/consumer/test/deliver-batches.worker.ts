import type { QueueConsumerRpc } from "@sluice/protocol";
import { deliveryOf } from "./deliveries.ts";

interface Asked {
  readonly logs: boolean;
  readonly batches: readonly (readonly string[])[];
}

/** Delivers the batches of a request at once, and answers with the results. */
export default {
  async fetch(request: Request, { CONSUMER }: { readonly CONSUMER: QueueConsumerRpc }): Promise<Response> {
    const { logs, batches } = await request.json<Asked>();
    const results = batches.map((bodies, i) =>
      CONSUMER.deliver(deliveryOf(bodies, { id: `${i} delivery`, ...(logs ? { logs } : {}) })),
    );
    return Response.json(await Promise.all(results));
  },
};
