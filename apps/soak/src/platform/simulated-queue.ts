import { createQueueBroker, type EndpointPort } from "@sluice/broker";
import type { QueueCore, Transfer, TransferReply } from "@sluice/broker/testing";
import { never } from "@sluice/objects/parts";
import type { QueueRecord } from "@sluice/protocol";

/** The broker's class of queues, with a method that runs an actor's function within a call. */
export type SimulatedQueue = InstanceType<ReturnType<typeof queueClassOf>>;

/** Simulated object as its class uses it. */
interface Watcher {
  readonly epoch: { readonly core: QueueCore | null } | null;
  noteDropped(transfer: Transfer): void;
  toldAs(record: QueueRecord): QueueRecord;
}

/** Makes the class of a queue's object. */
export function queueClassOf(
  queue: Watcher,
  options: Parameters<typeof createQueueBroker>[0],
  endpoints: EndpointPort,
) {
  return class SimulatedQueue extends createQueueBroker(options, endpoints) {
    /** Runs a function on a queue that exists. Never resolves if the object ends before. */
    async perform<Answer>(
      name: string,
      run: (core: QueueCore, object: SimulatedQueue) => Promise<Answer>,
    ): Promise<Answer> {
      const core = await this.existing(name);
      return queue.epoch?.core === core ? run(core, this) : never();
    }

    override configure(name: string, record: QueueRecord): Promise<void> {
      return super.configure(name, queue.toldAs(record));
    }

    override take(name: string, transfer: Transfer): Promise<TransferReply> {
      queue.noteDropped(transfer);
      return super.take(name, transfer);
    }
  };
}
