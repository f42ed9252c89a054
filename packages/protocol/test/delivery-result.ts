import type { DeliveryResult } from "../src/rpc/consumer.ts";

/** A whole result: everything acknowledged but for what the test says. */
export function resultOf(result: Partial<DeliveryResult> = {}): DeliveryResult {
  return {
    outcome: "ok",
    ackAll: false,
    retryBatch: { retry: false },
    explicitAcks: [],
    retryMessages: [],
    ...result,
  };
}
