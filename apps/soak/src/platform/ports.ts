import {
  type ConsumerPort,
  type HandOver,
  type HandOverItem,
  type HandOverReply,
  passOn,
  type QueueCore,
  type QueuePorts,
  writeRecord,
} from "@sluice/broker/testing";
import { type DeliveryReply, deliveryReply, type HandlerCalls, PackedIndex } from "@sluice/protocol";
import type { World } from "../history/world.ts";
import { retagged, tagsOf } from "../ledger/tags.ts";
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
      leave<DeliveryReply>((done, failed) =>
        consumer.deliver(life, delivery, (result) => done(deliveryReply(result)), failed),
      ),
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
    writeFirst: () => {
      if (life.registration !== null) writeRecord(life.registration, queue.disk);
    },
    definitionOf: (name) => {
      if (life.registration !== null) return life.registration.definition;
      const known = world.queueNamed(name);
      return known === undefined || known.isTopic || known.gone !== null ? undefined : known.definition;
    },
    ...(endpoint === null
      ? { consumerOf: () => (queue.registered !== null && queue.called === null ? null : port) }
      : endpointPortsOf(queue, endpoint, life, { clock, log }, leave)),
    queueExists: (name) => leave<boolean>((done, failed) => ask(world, name, done, failed)),
    handOver: (target, handOver) =>
      leave<HandOverReply>((done, failed) => handOverTo(queue, target, handOver, done, failed)),
    after: (callback, ms) => {
      queue.trouble();
      world.loop.after(ms + world.random.pick([0, 0, 1, 40]), () => {
        if (!life.isAlive) return;
        queue.isTouched = true;
        callback();
      });
    },
    setAlarm: (atMs) => {
      if (life.isAlive) life.alarm.set(atMs);
    },
    hasOutputGate: true,
  };
}

/** The directory is asked whether a queue exists. */
function ask(
  world: World,
  name: string,
  done: (exists: boolean) => void,
  failed: (error: unknown) => void,
): void {
  new Network(world).send<boolean>({
    arrives: (reply, refuse) => {
      if (world.directory === null) reply(world.queueNamed(name)?.gone === null);
      else world.directory.call(async ({ registry }) => registry.queue(name) !== undefined, reply, refuse);
    },
    answered: done,
    failed,
  });
}

/** What leaves by a move task arrives as other messages. */
function travelling({ ledger }: QueueObject, { id, packed, more, ...rest }: HandOver): HandOver {
  const itemOf = (item: HandOverItem): HandOverItem => {
    const parcel = ledger.parcels.get(item.id);
    return parcel?.isMove === true ? { id: item.id, packed: retagged(item.packed, parcel.tags) } : item;
  };
  return { ...rest, ...itemOf({ id, packed }), ...(more && { more: more.map(itemOf) }) };
}

function handOverTo(
  queue: QueueObject,
  targetName: string,
  sent: HandOver,
  done: (reply: HandOverReply) => void,
  failed: (error: unknown) => void,
): void {
  const { world, name, index, isTopic } = queue;
  const target = world.queueNamed(targetName);
  if (target === undefined) throw new Error(`a hand-over to the unknown queue "${targetName}"`);
  const handOver = travelling(queue, sent);
  const { id } = handOver;
  const { removals } = queue.ledger;
  const parcels = [handOver, ...(handOver.more ?? [])].map((item) => ({
    ...{ id: item.id, target: targetName, isMove: queue.ledger.parcels.get(item.id)?.isMove === true },
    tags: tagsOf(item.packed),
  }));
  const messages = parcels.reduce((sum, { tags }) => sum + tags.length, 0);
  if (isTopic) noteOffer(world, handOver.packed);
  world.note("hand-over leaves the queue", name, id, messages);
  new Network(world).send<HandOverReply>({
    arrives: (reply, refuse) => {
      world.note("hand-over arrives", targetName, index, id);
      if (isTopic) noteSent(target, [handOver, ...(handOver.more ?? [])]);
      target.callObject(
        (core) => takeOf(target, core, copyOf(handOver)),
        (taken) => {
          // Nothing that leaves a queue here cannot be read.
          for (const parcel of parcels) {
            // What was on its way out of a queue when that was deleted is nobody's any more.
            if (queue.ledger.removals > removals && !queue.ledger.parcels.has(parcel.id)) continue;
            if (!isOpenOffer(world, parcel.tags)) world.check("taken", target, parcel);
            noteTaken(target, parcel.tags);
          }
          reply(taken);
        },
        refuse,
      );
    },
    answered: (taken) => {
      world.note("hand-over is answered", name, id, 1);
      done(taken);
    },
    failed: (error) => {
      world.note("hand-over is answered", name, id, 0);
      failed(error);
    },
  });
}

/** What a queue does not have yet was sent when what arrives says: offered and then stored, a message can come with two times. */
function noteSent({ world, ledger }: QueueObject, items: readonly HandOverItem[]): void {
  for (const { packed } of items) {
    const index = new PackedIndex(packed);
    for (const [i, tag] of tagsOf(packed).entries()) {
      const copy = world.copies.get(tag);
      if (copy !== undefined && !ledger.messages.has(tag)) copy.sentMs = index.timestampMs(i);
    }
  }
}

/** What a topic hands over that it has not stored was sent when it says. */
function noteOffer(world: World, packed: Uint8Array): void {
  const sentMs = new PackedIndex(packed).timestampMs(0);
  for (const tag of tagsOf(packed)) {
    const copy = world.copies.get(tag);
    if (copy !== undefined && copy.publishedMs === null) copy.offeredMs ??= sentMs;
  }
}

/**
 * Whether nobody was told of the messages yet: their topic offers them, and has not stored them. One that comes late, of a life that
 * is over, may find later ones there and is not taken then: its publisher knows that it has failed.
 */
function isOpenOffer({ copies }: World, tags: readonly number[]): boolean {
  return tags.every((tag) => {
    const copy = copies.get(tag);
    return copy !== undefined && copy.offeredMs !== null && copy.publishedMs === null;
  });
}

function noteTaken(target: QueueObject, tags: readonly number[]): void {
  const { messages, passedOn } = target.ledger;
  for (const tag of tags) {
    const copy = target.world.copies.get(tag);
    if (copy === undefined || copy.target !== target.name) continue;
    if (messages.has(tag) || passedOn.has(tag) || target.canHaveBeenOver(tag)) copy.isTaken = true;
  }
}

/** What `QueueBroker.take` does. */
async function takeOf(target: QueueObject, core: QueueCore, handOver: HandOver): Promise<HandOverReply> {
  const { gone, ledger, registered } = target;
  await registered?.ensure(core);
  if (gone === null) return core.take(handOver);
  if (gone.fate.kind === "dropped") {
    const items = [handOver, ...(handOver.more ?? [])];
    for (const tag of items.flatMap(({ packed }) => tagsOf(packed))) {
      if (!ledger.messages.has(tag)) ledger.passedOn.add(tag);
    }
  }
  return passOn(core, handOver, gone.fate);
}

/** What arrives at the other end of a call. */
function copyOf({ packed, more, ...rest }: HandOver): HandOver {
  const copies = more?.map((item) => ({ ...item, packed: item.packed.slice() }));
  return { ...rest, packed: packed.slice(), ...(copies && { more: copies }) };
}
