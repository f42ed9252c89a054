import { env } from "cloudflare:workers";
import type { BrokerEnv } from "@sluice/broker";
import { defineBroker } from "@sluice/broker-worker";
import type { QueueTopology } from "@sluice/protocol";

// The broker as it is deployed, but with a topology from a binding, so that it is bundled once.
const { TOPOLOGY: topology } = env as unknown as { readonly TOPOLOGY: QueueTopology };
const { QueueBroker, Directory, handler } = defineBroker({ topology, consumers: { consumer: "CONSUMER" } });

export { Directory, QueueBroker };
export default {
  async fetch(request, brokerEnv, ctx) {
    const url = new URL(request.url);
    if (url.pathname === "/__soak/clock") {
      await advanceClocks(brokerEnv.SLUICE_QUEUES, Number(url.searchParams.get("ms")));
      return new Response();
    }
    return handler.fetch?.(request, brokerEnv, ctx) ?? new Response(null, { status: 404 });
  },
} satisfies ExportedHandler<BrokerEnv>;

/** Moves the clock of each queue. The admin API would call the directory for the queues, which may be damaged. */
async function advanceClocks(queues: BrokerEnv["SLUICE_QUEUES"], ms: number): Promise<void> {
  const names = Object.keys(topology.queues);
  await Promise.allSettled(names.map((name) => queues.get(queues.idFromName(name)).advanceClock(name, ms)));
}
