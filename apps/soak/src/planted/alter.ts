import type { ConsumerPort, QueuePorts, QueueStore } from "@sluice/broker/testing";

/** Ports with a store of which some methods are replaced. */
export function alterStore(ports: QueuePorts, changes: Partial<QueueStore>): QueuePorts {
  // The methods of a disk reach for private fields, so they are called on the disk itself.
  const store = new Proxy(ports.store, {
    get(target, name) {
      const changed = Reflect.get(changes, name);
      if (changed !== undefined) return changed;
      const value = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  return { ...ports, store };
}

/** Ports with another way to the consumer. */
export function alterConsumer(
  ports: QueuePorts,
  change: (consumer: ConsumerPort) => Partial<ConsumerPort>,
): QueuePorts {
  return {
    ...ports,
    consumer() {
      const consumer = ports.consumer();
      // Of an HTTP endpoint it is an object with private fields, so its methods are called on itself.
      return (
        consumer && {
          name: consumer.name,
          returnsOnTrial: consumer.returnsOnTrial === true,
          deliver: (delivery) => consumer.deliver(delivery),
          callsOf: (deliveryId) => consumer.callsOf(deliveryId),
          ping: () => consumer.ping(),
          ...change(consumer),
        }
      );
    },
  };
}

/** Replaces a number of an object by one that goes through `change` whenever it is set. */
export function alterNumber<Name extends string>(
  owner: Record<Name, number>,
  name: Name,
  change: (next: number, last: number) => number,
): void {
  let value = owner[name];
  Object.defineProperty(owner, name, {
    get: () => value,
    set: (next: number) => {
      value = change(next, value);
    },
  });
}

/** True every n-th time it is asked. */
export function everyNth(n: number): () => boolean {
  let count = 0;
  return () => {
    count += 1;
    return count % n === 0;
  };
}
