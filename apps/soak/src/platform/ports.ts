import type { ConsumerPort, HandOver, QueuePorts } from "@sluice/broker/testing";
import type { DeliveryResult, HandlerCalls } from "@sluice/protocol";
import { tagsOf } from "../ledger/tags.ts";
import { endpointPortsOf } from "./endpoint-ports.ts";
import type { Life } from "./life.ts";
import { Network } from "./network.ts";
import type { QueueObject } from "./queue-object.ts";

/** A queue's words for messages that it cannot read. */
const REPORTS_LOSS = /\b(lost|damaged)\b/;

/** The world as one life of a queue sees it. Nothing leaves before what was written is durable: the output gate. */
export function portsOf(queue: QueueObject, life: Life, broken: (error: unknown) => void): QueuePorts {
  const { world, consumer, endpoint } = queue;
  const leave = <Answer>(
    start: (done: (answer: Answer) => void, failed: (error: unknown) => void) => void,
  ): Promise<Answer> =>
    new Promise((resolve, reject) => {
      if (!life.isAlive) return;
      const ifAlive =
        <Value>(settle: (value: Value) => void) =>
        (value: Value) => {
          if (!life.isAlive) return;
          queue.isTouched = true;
          settle(value);
        };
      queue.disk.whenDurable(() => {
        queue.isTouched = true;
        start(ifAlive(resolve), ifAlive(reject));
      });
    });
  const port: ConsumerPort | null = consumer && {
    name: "consumer",
    deliver: (delivery) =>
      leave<DeliveryResult>((done, failed) => consumer.deliver(life, delivery, done, failed)),
    callsOf: (deliveryId) =>
      leave<HandlerCalls | null>((done, failed) => consumer.callsOf(life, deliveryId, done, failed)),
    ping: () => {
      const probe = consumer.nextProbe(life);
      return leave<void>((done, failed) => consumer.ping(life, probe, done, failed));
    },
  };
  const remark = (text: string) => world.log.remark(text);
  const error = (text: string) => {
    remark(text);
    // No damage is done to any disk here, so whatever a queue reports as lost or damaged is its own doing.
    if (life.isAlive && REPORTS_LOSS.test(text)) world.fail("conservation", queue, text);
  };
  const clock = { now: () => world.nowMs };
  const log = { handled: () => {}, info: remark, warn: remark, error };
  return {
    ...{ store: queue.disk, clock, log, broken },
    newMessageId: () => world.newMessageId(),
    definitionOf: (name) => world.queueNamed(name)?.definition,
    ...(endpoint === null
      ? { consumerOf: () => port }
      : endpointPortsOf(queue, endpoint, life, { clock, log }, leave)),
    handOver: (target, handOver) =>
      leave<void>((done, failed) => handOverTo(queue, target, handOver, done, failed)),
    setAlarm: (atMs) => {
      if (life.isAlive) life.alarm.set(atMs);
    },
  };
}

function handOverTo(
  { world, name, index }: QueueObject,
  targetName: string,
  { source, id, packed }: HandOver,
  done: () => void,
  failed: (error: unknown) => void,
): void {
  const target = world.queueNamed(targetName);
  if (target === undefined) throw new Error(`a hand-over to the unknown queue "${targetName}"`);
  const parcel = { id, target: targetName, tags: tagsOf(packed) };
  world.note("hand-over leaves the queue", name, id, parcel.tags.length);
  new Network(world).send<1>({
    arrives: (reply, refuse) => {
      world.note("hand-over arrives", targetName, index, id);
      target.call(
        (core) => core.take({ source, id, packed: packed.slice() }),
        () => {
          world.check("taken", target, parcel);
          reply(1);
        },
        refuse,
      );
    },
    answered: () => {
      world.note("hand-over is answered", name, id, 1);
      done();
    },
    failed: (error) => {
      world.note("hand-over is answered", name, id, 0);
      failed(error);
    },
  });
}
