import {
  type Delivery,
  type Fault,
  type FaultKind,
  type FaultSetting,
  faultText,
  type QueueDescription,
} from "@sluice/protocol";
import type { QueueLog } from "../platform/log.ts";
import { type ConsumerPort, failedResult } from "../push/delivery-result.ts";
import { shuffleBatch } from "./shuffle-batch.ts";

type DeliveryPromise = ReturnType<ConsumerPort["deliver"]>;

interface FaultPorts {
  readonly log: QueueLog;
  readonly queue: string;
  /** Calls back after a time in ms, by the real clock. */
  after(callback: () => void, ms: number): void;
  /** Ends the queue's object as a crash does. */
  crash(error: Error): void;
  /** Notes in the history that a fault acts on a delivery. Resolves when that is durable. */
  acts(deliveryId: string, text: string): Promise<void>;
}

/**
 * Faults that are injected into the deliveries of a queue, in development only. Every fault that is on acts on each
 * delivery, is logged, and is noted in the history. A restart of the broker ends all faults, since they are in memory.
 */
export class Faults {
  readonly #ports: FaultPorts;
  readonly #left = new Map<FaultKind, Fault>();
  #seed = 0;

  constructor(ports: FaultPorts) {
    this.#ports = ports;
  }

  /** Replaces all faults. */
  set({ seed, faults }: FaultSetting): void {
    this.#seed = seed;
    this.#left.clear();
    for (const fault of faults) this.#left.set(fault.kind, fault);
  }

  /** Reads the faults that remain, and the seed. */
  read(): FaultSetting {
    return { seed: this.#seed, faults: [...this.#left.values()] };
  }

  /** Its part of the description of a queue; empty without faults. */
  get description(): Pick<QueueDescription, "faults"> {
    return this.#left.size === 0 ? {} : { faults: this.read().faults };
  }

  /** Wraps a consumer with faults on the way to it and back; without faults it is the consumer itself. */
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

  async #deliver(consumer: ConsumerPort, delivery: Delivery): DeliveryPromise {
    const { id } = delivery;
    const held = this.#take("holdBatch", id);
    if (held !== null) await this.#pass(held.ms);
    if (this.#take("failBatch", id) !== null)
      return failedResult("fault failBatch: the handler was not called");
    const cut = this.#take("cutLease", id);
    const handled = this.#handle(consumer, this.#reordered(delivery));
    if (cut === null) return handled;
    const late = this.#pass(cut.ms).then(() =>
      failedResult(`fault cutLease: the lease ended after ${cut.ms} ms`),
    );
    // The late result of the handler is ignored, its failure too.
    handled.catch(() => {});
    return Promise.race([handled, late]);
  }

  async #handle(consumer: ConsumerPort, delivery: Delivery): DeliveryPromise {
    if (this.#take("deliverTwice", delivery.id) !== null) await consumer.deliver(delivery);
    const answer = await consumer.deliver(delivery);
    const slow = this.#take("slow", delivery.id);
    if (slow !== null) await this.#pass(slow.ms);
    const restart = this.#take("restart", delivery.id);
    if (restart !== null) {
      // The crash would take its own event along.
      await restart.noted;
      const error = new Error("fault restart: the queue's object crashes");
      this.#ports.crash(error);
      throw error;
    }
    return this.#take("loseAck", delivery.id) === null
      ? answer
      : failedResult("fault loseAck: what the handler did was not heard of");
  }

  #reordered(delivery: Delivery): Delivery {
    const fault = this.#take("reorder", delivery.id);
    return fault === null ? delivery : shuffleBatch(delivery, this.#seed + fault.times);
  }

  /** Takes one time of a fault; `null` if it is not on. `noted` resolves when its event is durable. */
  #take(kind: FaultKind, deliveryId: string): (Fault & { readonly noted: Promise<void> }) | null {
    const fault = this.#left.get(kind);
    if (fault === undefined) return null;
    const times = fault.times - 1;
    if (times > 0) this.#left.set(kind, { ...fault, times });
    else this.#left.delete(kind);
    this.#ports.log.warn(`Queue "${this.#ports.queue}": fault ${kind}, ${times} more to come`);
    const noted = this.#ports.acts(deliveryId, `${kind}: ${faultText(fault)}`).catch(() => {});
    return { ...fault, noted };
  }

  #pass(ms: number): Promise<void> {
    return new Promise((resolve) => this.#ports.after(resolve, ms));
  }
}
