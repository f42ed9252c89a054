import type { BrokerEnv, QueueBrokerObject } from "@sluice/broker";
import { type QueueNamespace, QueueObjects } from "@sluice/protocol";
import { accountOf } from "./account.ts";

/** Makes what finds the objects of queues, each in its jurisdiction. */
export function queueObjectsOf(env: BrokerEnv): QueueObjects<QueueBrokerObject> {
  return new QueueObjects({
    namespace: () => env.SLUICE_QUEUES as unknown as QueueNamespace<QueueBrokerObject>,
    placeOf: (queue) => accountOf(env).placeOf(queue),
  });
}
