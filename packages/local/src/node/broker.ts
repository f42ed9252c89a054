import { openBroker } from "@sluice/broker-worker/open-broker";
import type { BrokerInput } from "./contract.ts";

/** Opens the broker on Node.js (`contract.ts`). */
export function open(input: BrokerInput) {
  const { gateway, ...broker } = openBroker(input);
  const { asksForSignatures } = gateway;
  return { ...broker, asksForSignatures, fetch: (request: Request) => gateway.fetch(request) };
}
