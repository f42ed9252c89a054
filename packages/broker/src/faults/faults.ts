import type { Delivery, Fault, FaultKind, FaultSetting, QueueDescription } from "@sluice/protocol";
import type { QueueLog } from "../platform/log.ts";
import { type ConsumerPort, failedResult } from "../push/delivery-result.ts";
import { shuffleBatch } from "./shuffle-batch.ts";

type Answer = ReturnType<ConsumerPort["deliver"]>;

interface FaultPorts {
  readonly log: QueueLog;
  readonly queue: string;
  /** Calls back after that many ms of real time. */
  after(callback: () => void, ms: number): void;
  /** Ends the queue's object as a crash does. */
  crash(error: Error): void;
}

/**
 * Faults that are injected into the deliveries of a queue: development only. Each delivery takes part in every fault
 * that is on, and each says so in the log. They are kept in memory: a restart of the broker ends them.
 */
export class Faults {
  readonly #ports: FaultPorts;
  readonly #left = new Map<FaultKind, Fault>();
  #seed = 0;

  constructor(ports: FaultPorts) {
    this.#ports = ports;
  }

  /** Replaces all faults by those. */
  set({ seed, faults }: FaultSetting): void {
    this.#seed = seed;
    this.#left.clear();
    for (const fault of faults) this.#left.set(fault.kind, fault);
  }

  /** Reads the faults that remain, and the seed. */
  read(): FaultSetting {
    return { seed: this.#seed, faults: [...this.#left.values()] };
  }

  /** Its part of what a queue says of itself: nothing where nothing goes wrong. */
  get description(): Pick<QueueDescription, "faults"> {
    return this.#left.size === 0 ? {} : { faults: this.read().faults };
  }

  /** The consumer with what goes wrong on the way to it and back; itself where nothing does. */
  around(consumer: ConsumerPort): ConsumerPort {
    if (this.#left.size === 0) return consumer;
    return {
      name: consumer.name,
      ...(consumer.returnsOnTrial === undefined ? {} : { returnsOnTrial: consumer.returnsOnTrial }),
      callsOf: (deliveryId) => consumer.callsOf(deliveryId),
      ping: () => consumer.ping(),
      deliver: (delivery) => this.#deliver(consumer, delivery),
    };
  }

  async #deliver(consumer: ConsumerPort, delivery: Delivery): Answer {
    const held = this.#take("holdBatch");
    if (held !== null) await this.#pass(held.ms);
    if (this.#take("failBatch") !== null) return failedResult("fault failBatch: the handler was not called");
    const cut = this.#take("cutLease");
    const handled = this.#handle(consumer, this.#reordered(delivery));
    if (cut === null) return handled;
    const late = this.#pass(cut.ms).then(() =>
      failedResult(`fault cutLease: the lease ended after ${cut.ms} ms`),
    );
    // Whatever it still does is nobody's any more.
    handled.catch(() => {});
    return Promise.race([handled, late]);
  }

  async #handle(consumer: ConsumerPort, delivery: Delivery): Answer {
    if (this.#take("deliverTwice") !== null) await consumer.deliver(delivery);
    const answer = await consumer.deliver(delivery);
    const slow = this.#take("slow");
    if (slow !== null) await this.#pass(slow.ms);
    if (this.#take("restart") !== null) {
      const error = new Error("fault restart: the queue's object crashes");
      this.#ports.crash(error);
      throw error;
    }
    return this.#take("loseAck") === null
      ? answer
      : failedResult("fault loseAck: what the handler did was not heard of");
  }

  #reordered(delivery: Delivery): Delivery {
    const fault = this.#take("reorder");
    return fault === null ? delivery : shuffleBatch(delivery, this.#seed + fault.times);
  }

  /** The fault, if it is on: one time less is left of it. */
  #take(kind: FaultKind): Fault | null {
    const fault = this.#left.get(kind);
    if (fault === undefined) return null;
    const times = fault.times - 1;
    if (times > 0) this.#left.set(kind, { ...fault, times });
    else this.#left.delete(kind);
    this.#ports.log.warn(`Queue "${this.#ports.queue}": fault ${kind}, ${times} more to come`);
    return fault;
  }

  #pass(ms: number): Promise<void> {
    return new Promise((resolve) => this.#ports.after(resolve, ms));
  }
}
