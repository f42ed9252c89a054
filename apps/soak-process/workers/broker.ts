import { env } from "cloudflare:workers";
import { defineBroker } from "@sluice/broker-worker";
import type { QueueTopology } from "@sluice/protocol";

/** The broker as it is deployed; only that its topology comes from a binding, so that it is bundled once. */
const { TOPOLOGY: topology } = env as unknown as { readonly TOPOLOGY: QueueTopology };
const { QueueBroker, Directory, handler } = defineBroker({ topology, consumers: { consumer: "CONSUMER" } });

export { Directory, QueueBroker };
export default handler;
