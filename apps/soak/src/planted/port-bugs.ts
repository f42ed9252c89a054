import { inPorts, type PlantedBug } from "../world/planted-bug.ts";
import { alterConsumer, everyNth } from "./alter.ts";

/** Mistakes in a queue's ports: alarm, clock, consumer, other queues. */
export const PORT_BUGS: readonly PlantedBug[] = [
  inPorts(
    "one live lease",
    "a batch leaves before its lease is durable",
    (ports, { deliverAtOnce: deliver }) =>
      deliver === null ? ports : alterConsumer(ports, () => ({ deliver })),
  ),
  inPorts("conservation", "a batch that was retried on purpose is acknowledged", (ports) =>
    alterConsumer(ports, (consumer) => ({
      deliver: async (delivery) => {
        const reply = await consumer.deliver(delivery);
        return reply === "acknowledged" ? reply : { ...reply, retryBatch: { retry: false } };
      },
    })),
  ),
  inPorts("due time", "the delay that a handler asks for is lost", (ports) =>
    alterConsumer(ports, (consumer) => ({
      deliver: async (delivery) => {
        const reply = await consumer.deliver(delivery);
        if (reply === "acknowledged" || "rejected" in reply) return reply;
        return { ...reply, retryMessages: reply.retryMessages.map(({ msgId }) => ({ msgId })) };
      },
    })),
  ),
  inPorts("due time", "the queue's delivery delay is not applied", (ports) => ({
    ...ports,
    definition() {
      const definition = ports.definition();
      return definition && { ...definition, deliveryDelaySeconds: 0 };
    },
  })),
  inPorts("paused", "a Worker that has to wait for others begins at once", (ports) => ({
    ...ports,
    heldUntilMs: () => 0,
  })),
  inPorts("paused", "pausing delivery changes nothing", (ports) => ({
    ...ports,
    definition() {
      const definition = ports.definition();
      return definition && { ...definition, deliveryPaused: false };
    },
  })),
  inPorts("due time", "the clock runs ahead after a restart", (ports, { epochs }) =>
    epochs === 1 ? ports : { ...ports, clock: { now: () => ports.clock.now() + 700 } },
  ),
  inPorts("attempts", "every consumer is told that it is the first attempt", (ports) =>
    alterConsumer(ports, (consumer) => ({
      deliver: (delivery) => consumer.deliver({ ...delivery, attempts: 1 }),
    })),
  ),
  inPorts("alarm armed", "now and then an alarm is not set", (ports) => {
    const isSkipped = everyNth(4);
    return {
      ...ports,
      setAlarm: (atMs) => {
        if (!isSkipped()) ports.setAlarm(atMs);
      },
    };
  }),
  inPorts("alarm armed", "the alarm is set a second late", (ports) => ({
    ...ports,
    setAlarm: (atMs) => ports.setAlarm(atMs + 1_000),
  })),
  inPorts("dead-letter move", "a transfer counts as taken as soon as it is sent", (ports) => ({
    ...ports,
    transfer: (target, transfer) => {
      ports.transfer(target, transfer).catch(() => {});
      return Promise.resolve({ takenTo: (transfer.more?.at(-1) ?? transfer).id, refused: null });
    },
  })),
  inPorts("liveness", "the alarm is never set", (ports) => ({ ...ports, setAlarm: () => {} })),
  inPorts("liveness", "a consumer that was absent is never found again", (ports) =>
    alterConsumer(ports, () => ({ ping: () => Promise.reject(new Error("not reached")) })),
  ),
  inPorts("attempts", "an end that was planned counts as an attempt", (ports) => ({
    ...ports,
    cutOffCounts: true,
  })),
  inPorts("attempts", "an innocent Worker's delivery is charged for another's hang", (ports, { endTold }) =>
    endTold.kind === "blamed" ? { ...ports, cutOffCounts: true } : ports,
  ),
  inPorts("attempts", "a crash counts as no attempt", (ports) => ({ ...ports, cutOffCounts: false })),
];
