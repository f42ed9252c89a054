import { alterConsumer, everyNth } from "./alter.ts";
import type { PlantedBug } from "./planted-bug.ts";

/** Mistakes in how a queue deals with its surroundings: alarm, clock, consumer, other queues. */
export const PORT_BUGS: readonly PlantedBug[] = [
  {
    name: "a batch leaves before its lease is durable",
    property: "one live lease",
    wrapPorts: (ports, { consumer, life }) =>
      consumer === null
        ? ports
        : alterConsumer(ports, () => ({
            deliver: (delivery) =>
              new Promise((resolve, reject) => {
                if (life !== null) consumer.deliver(life, delivery, resolve, reject);
              }),
          })),
  },
  {
    name: "a batch that was retried on purpose is acknowledged",
    property: "conservation",
    wrapPorts: (ports) =>
      alterConsumer(ports, (consumer) => ({
        deliver: async (delivery) => {
          const reply = await consumer.deliver(delivery);
          return reply === "acknowledged" ? reply : { ...reply, retryBatch: { retry: false } };
        },
      })),
  },
  {
    name: "the delay that a handler asks for is lost",
    property: "due time",
    wrapPorts: (ports) =>
      alterConsumer(ports, (consumer) => ({
        deliver: async (delivery) => {
          const reply = await consumer.deliver(delivery);
          if (reply === "acknowledged" || "rejected" in reply) return reply;
          return { ...reply, retryMessages: reply.retryMessages.map(({ msgId }) => ({ msgId })) };
        },
      })),
  },
  {
    name: "the queue's delivery delay is not applied",
    property: "due time",
    wrapPorts: (ports) => ({
      ...ports,
      definitionOf(queue) {
        const definition = ports.definitionOf(queue);
        return definition && { ...definition, deliveryDelaySeconds: 0 };
      },
    }),
  },
  {
    name: "pausing delivery changes nothing",
    property: "paused",
    wrapPorts: (ports) => ({
      ...ports,
      definitionOf(queue) {
        const definition = ports.definitionOf(queue);
        return definition && { ...definition, deliveryPaused: false };
      },
    }),
  },
  {
    name: "the clock runs ahead after a restart",
    property: "due time",
    wrapPorts: (ports, { lives }) =>
      lives === 1 ? ports : { ...ports, clock: { now: () => ports.clock.now() + 700 } },
  },
  {
    name: "every consumer is told that it is the first attempt",
    property: "attempts",
    wrapPorts: (ports) =>
      alterConsumer(ports, (consumer) => ({
        deliver: (delivery) => consumer.deliver({ ...delivery, attempts: 1 }),
      })),
  },
  {
    name: "now and then an alarm is not set",
    property: "alarm armed",
    wrapPorts: (ports) => {
      const isSkipped = everyNth(4);
      return {
        ...ports,
        setAlarm: (atMs) => {
          if (!isSkipped()) ports.setAlarm(atMs);
        },
      };
    },
  },
  {
    name: "the alarm is set a second late",
    property: "alarm armed",
    wrapPorts: (ports) => ({ ...ports, setAlarm: (atMs) => ports.setAlarm(atMs + 1_000) }),
  },
  {
    name: "a hand-over counts as taken as soon as it is sent",
    property: "dead-letter move",
    wrapPorts: (ports) => ({
      ...ports,
      handOver: (target, handOver) => {
        ports.handOver(target, handOver).catch(() => {});
        return Promise.resolve({ takenTo: (handOver.more?.at(-1) ?? handOver).id, refused: null });
      },
    }),
  },
  {
    name: "the alarm is never set",
    property: "liveness",
    wrapPorts: (ports) => ({ ...ports, setAlarm: () => {} }),
  },
  {
    name: "a consumer that was absent is never found again",
    property: "liveness",
    wrapPorts: (ports) =>
      alterConsumer(ports, () => ({ ping: () => Promise.reject(new Error("not reached")) })),
  },
];
