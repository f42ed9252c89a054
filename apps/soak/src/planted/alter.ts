import type { ConsumerPort, QueuePorts, QueueStore } from "@sluice/broker/testing";

/** Copies ports with some methods of the store replaced. */
export function alterStore(ports: QueuePorts, changes: Partial<QueueStore>): QueuePorts {
  // A store's methods use private fields, so they are called on the store itself.
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

/** Copies ports with some methods of the consumer replaced. */
export function alterConsumer(
  ports: QueuePorts,
  change: (consumer: ConsumerPort) => Partial<ConsumerPort>,
): QueuePorts {
  return {
    ...ports,
    consumer() {
      const consumer = ports.consumer();
      // The port to an HTTP endpoint has private fields, so its methods are called on the port itself.
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

/** Makes a function that returns true at every n-th call. */
export function everyNth(n: number): () => boolean {
  let count = 0;
  return () => {
    count += 1;
    return count % n === 0;
  };
}
