import {
  AwakeTime,
  type ConsumerPort,
  LINGER_DEPLOYED_MS,
  LINGER_MS,
  type QueueCore,
  type QueuePorts,
  type Transfer,
  type TransferItem,
  type TransferReply,
  writeRecord,
} from "@sluice/broker/testing";
import { countsAfter, cutOffReason, deliveryReply } from "@sluice/protocol";
import type { Simulation } from "../history/simulation.ts";
import { retagged, tagsOf } from "../ledger/tags.ts";
import { endpointPortsOf, type Leave } from "./endpoint-ports.ts";
import type { Epoch } from "./epoch.ts";
import { exchange } from "./network.ts";
import type { MakePorts, QueueObject } from "./queue-object.ts";

/** A queue's words for messages that it cannot read. */
const REPORTS_LOSS = /\b(lost|damaged)\b/;

/** Ports to a world. */
export function portsIn(world: Simulation): MakePorts {
  return (queue, epoch, broken) => portsOf(world, queue, epoch, broken);
}

/** The world as one epoch of a queue sees it. Nothing leaves before what was written is durable: the output gate. */
function portsOf(
  world: Simulation,
  queue: QueueObject,
  epoch: Epoch,
  broken: (error: unknown) => void,
): QueuePorts {
  const { consumer, endpoint } = queue;
  const leave: Leave = (start) =>
    new Promise((resolve, reject) => {
      if (!epoch.isAlive) return;
      const ifAlive =
        <Value>(settle: (value: Value) => void) =>
        (value: Value) => {
          if (!epoch.isAlive) return;
          queue.isTouched = true;
          settle(value);
        };
      queue.disk.whenDurable(() => {
        queue.isTouched = true;
        start().then(ifAlive(resolve), ifAlive(reject));
      });
    });
  const port: ConsumerPort | null = consumer && {
    name: "consumer",
    deliver: (delivery) => leave(async () => deliveryReply(await consumer.deliver(epoch, delivery))),
    callsOf: (deliveryId) => leave(() => consumer.callsOf(epoch, deliveryId)),
    ping: () => {
      const probe = consumer.nextProbe(epoch);
      return leave(() => consumer.ping(epoch, probe));
    },
  };
  const remark = (text: string) => world.log.remark(text);
  const error = (text: string) => {
    remark(text);
    // No damage is done to any disk here, so whatever a queue reports as lost or damaged is its own doing.
    if (epoch.isAlive && REPORTS_LOSS.test(text)) world.fail("conservation", queue, text);
  };
  const clock = { now: () => world.timeOfDay.read() };
  const setAlarm = (atMs: number) => {
    if (epoch.isAlive) epoch.alarm.set(atMs);
  };
  const log = { handled: () => {}, info: remark, warn: remark, error };
  return {
    store: queue.disk,
    clock,
    log,
    broken,
    cutOffCounts: countsAfter(epoch.lastEnd.told, queue.worker),
    heldUntilMs: () => queue.heldUntilMs,
    cutOffDelayMs: epoch.cutOffDelayMs,
    // A queue meets both: as it is on a machine of its own, and where rows are billed.
    lingerMs: epoch.number % 2 === 0 ? LINGER_MS : LINGER_DEPLOYED_MS,
    keepsHistory: world.keepsHistory,
    newMessageId: () => world.newMessageId(),
    writeFirst: () => {
      if (epoch.registration !== null) writeRecord(epoch.registration, queue.disk);
    },
    definition: () => {
      if (epoch.registration !== null) return epoch.registration.definition;
      return queue.isTopic || queue.gone !== null ? undefined : queue.definition;
    },
    queueExists: (name) => leave(() => exchange(world, () => exists(world, name))),
    transfer: (target, transfer) => leave(() => transferTo(world, queue, target, transfer)),
    after: (callback, ms) => {
      queue.trouble();
      world.loop.after(ms + world.random.pick([0, 0, 1, 40]), () => {
        if (!epoch.isAlive) return;
        queue.isTouched = true;
        callback();
      });
    },
    setAlarm,
    setTimer: setAlarm,
    awake: new AwakeTime(() => world.nowMs),
    epochKnown: 0,
    observer: undefined,
    jitterSeed: "",
    damageRecord: { readDamage: () => [], writeDamage: () => {} },
    cutOffReason: cutOffReason(epoch.lastEnd.told),
    daemon: () => null,
    ...(endpoint === null
      ? { consumer: () => (queue.registered !== null && queue.called === null ? null : port) }
      : endpointPortsOf(queue, endpoint, epoch, { clock, log }, leave)),
  };
}

/** The directory is asked whether a queue exists. */
async function exists(world: Simulation, name: string): Promise<boolean> {
  if (world.directory === null) return world.queueNamed(name)?.gone === null;
  return world.directory.call(async ({ registry }) => registry.queue(name) !== undefined);
}

/** Retags the messages of move tasks in a transfer: they arrive as other messages. */
function travelling({ ledger }: QueueObject, { id, packed, more, ...rest }: Transfer): Transfer {
  const itemOf = (item: TransferItem): TransferItem => {
    const pendingBatch = ledger.pendingBatches.get(item.id);
    return pendingBatch?.isMove === true
      ? { id: item.id, packed: retagged(item.packed, pendingBatch.tags) }
      : item;
  };
  return { ...rest, ...itemOf({ id, packed }), ...(more && { more: more.map(itemOf) }) };
}

async function transferTo(
  world: Simulation,
  queue: QueueObject,
  targetName: string,
  sent: Transfer,
): Promise<TransferReply> {
  const { name, index } = queue;
  const target = world.queueNamed(targetName);
  if (target === undefined) throw new Error(`a transfer to the unknown queue "${targetName}"`);
  const transfer = travelling(queue, sent);
  const { id } = transfer;
  const { removals } = queue.ledger;
  const pendingBatches = [transfer, ...(transfer.more ?? [])].map((item) => ({
    id: item.id,
    target: targetName,
    isMove: queue.ledger.pendingBatches.get(item.id)?.isMove === true,
    tags: tagsOf(item.packed),
  }));
  const messages = pendingBatches.reduce((sum, { tags }) => sum + tags.length, 0);
  world.note("transfer leaves the queue", name, id, messages);
  const arrives = async () => {
    world.note("transfer arrives", targetName, index, id);
    const taken = await target.callObject((core) => takeOf(target, core, copyOf(transfer)));
    // Nothing that leaves a queue here cannot be read.
    for (const pendingBatch of pendingBatches) {
      // What was on its way out of a queue when that was deleted is nobody's any more.
      if (queue.ledger.removals > removals && !queue.ledger.pendingBatches.has(pendingBatch.id)) continue;
      world.check("taken", target, pendingBatch);
    }
    return taken;
  };
  let isTaken = 0;
  try {
    const taken = await exchange(world, arrives);
    isTaken = 1;
    return taken;
  } finally {
    world.note("transfer is answered", name, id, isTaken);
  }
}

/** Takes a transfer in, as `QueueBroker.take` does. */
async function takeOf(target: QueueObject, core: QueueCore, transfer: Transfer): Promise<TransferReply> {
  const { gone, ledger, registered } = target;
  await registered?.ensure(core);
  if (gone === null) return core.inbox.accept(transfer);
  if (gone.fate.kind === "dropped") {
    const items = [transfer, ...(transfer.more ?? [])];
    for (const tag of items.flatMap(({ packed }) => tagsOf(packed))) {
      if (!ledger.messages.has(tag)) ledger.passedOn.add(tag);
    }
  }
  return core.inbox.passOn(transfer, gone.fate);
}

/** Copies a transfer into the form that arrives at the other end of a call. */
function copyOf({ packed, more, ...rest }: Transfer): Transfer {
  const copies = more?.map((item) => ({ ...item, packed: item.packed.slice() }));
  return { ...rest, packed: packed.slice(), ...(copies && { more: copies }) };
}
