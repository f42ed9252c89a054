import type { QueueProducer } from "@sluice/producer";
import type { DeadLetter, QueueHandle, WaitingMessage } from "../api.ts";
import { msOf } from "../span.ts";
import type { BrokerCalls } from "./broker-calls.ts";
import type { Ledger } from "./ledger.ts";

interface QueuePorts {
  readonly calls: BrokerCalls;
  readonly producer: QueueProducer;
  /** Returns the ledger with everything that has happened by now. */
  ledger(): Promise<Ledger>;
  /** @throws Error for a queue that does not exist. */
  refuseUnknown(): void;
}

/** Makes the handle by which a test acts as a client of a queue. */
export function queueHandle<B>(
  name: string,
  { calls, producer, ledger, refuseUnknown }: QueuePorts,
): QueueHandle<B> {
  return {
    send: async (body, options) => {
      await producer.send(body, options);
    },
    sendBatch: async (messages, options) => {
      await producer.sendBatch(messages as Iterable<MessageSendRequest>, options);
    },
    pull: async ({ batchSize, visibilityTimeout } = {}) => {
      const messages = await calls.pull(name, {
        ...(batchSize === undefined ? {} : { batch_size: batchSize }),
        ...(visibilityTimeout === undefined ? {} : { visibility_timeout_ms: msOf(visibilityTimeout) }),
      });
      const known = await ledger();
      return messages.map(({ id, attempts, lease_id: leaseId }) => {
        return { id, body: known.bodyOf(id) as B, attempts, leaseId };
      });
    },
    ack: (acks, retries = []) =>
      calls.settle(name, {
        acks: acks.map(({ leaseId }) => ({ lease_id: leaseId })),
        retries: retries.map(({ leaseId, delaySeconds }) => {
          return {
            lease_id: leaseId,
            ...(delaySeconds === undefined ? {} : { delay_seconds: delaySeconds }),
          };
        }),
      }),
    messages: async () => {
      const [listed, known] = [await calls.messages(name), await ledger()];
      return listed.map(({ id, state, attempts, dueAt }): WaitingMessage<B> => {
        const due = dueAt === null ? null : new Date(dueAt);
        return { id, body: known.bodyOf(id) as B, state, attempts, dueAt: due };
      });
    },
    deadLetters: async () => {
      const { deadLetters } = await ledger();
      refuseUnknown();
      return deadLetters.flatMap(({ queue, ...letter }) => (queue === name ? [letter as DeadLetter<B>] : []));
    },
  };
}
