import type { EndpointPort } from "@sluice/broker";
import type { Transfer, TransferItem, TransferReply, Undeliverable } from "@sluice/broker/testing";
import { copyOf } from "@sluice/objects/parts";
import { type Delivery, deliveryReply, type QueueRecord } from "@sluice/protocol";
import type { PendingBatch } from "../ledger/applied-commit.ts";
import type { DirectoryLedger } from "../ledger/directory-ledger.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { retagged, tagsOf } from "../ledger/tags.ts";
import type { World } from "../world/world.ts";
import type { CalledEndpoint, CalledWorker } from "./called.ts";
import type { DeployedSettings } from "./deployed-settings.ts";
import type { Epoch } from "./epoch.ts";
import { exchange } from "./network.ts";

/** The directory as a queue's object reaches it, with its ledger. */
export interface AskedDirectory {
  readonly ledger: DirectoryLedger;
  ask<Answer>(method: string, ...args: readonly unknown[]): Promise<Answer>;
}

/** A queue that others transfer messages to. */
interface Target {
  readonly name: string;
  readonly gone: { readonly fate: Undeliverable } | null;
  call<Answer>(method: string, ...args: readonly unknown[]): Promise<Answer>;
}

/** The world as an object reaches it. */
export interface ReachedWorld extends World {
  /** `null` where settings come with the code. */
  readonly directory: AskedDirectory | null;
  readonly deployed: DeployedSettings;
  queueNamed(name: string): Target | undefined;
  check(moment: "taken", queue: Target, pendingBatch: PendingBatch): void;
}

/** A queue whose object makes calls. */
interface CallingQueue {
  readonly name: string;
  readonly index: number;
  readonly world: ReachedWorld;
  readonly ledger: Ledger;
  readonly consumer: CalledWorker | null;
  readonly endpoint: CalledEndpoint | null;
}

/** Holds a call of an object back until its writes are durable, and then starts it. */
export type Leave = <Answer>(start: () => Promise<Answer>) => Promise<Answer>;

/** Methods of the directory that queues call. */
export const DIRECTORY_METHODS = ["opened", "ensureQueue", "findByName", "undeliverable", "report"];

/** Port of a queue without an HTTP endpoint. */
export const NOWHERE: EndpointPort = {
  post: async () => ({ kind: "unreachable", reason: "there is no endpoint" }),
  isReady: async () => false,
};

/** Makes a binding to a namespace of Durable Objects. */
export function namespaceOf(stubOf: (name: string) => object) {
  return {
    idFromName: (name: string) => ({ name, toString: () => name }),
    get: ({ name }: { readonly name: string }) => stubOf(name),
  };
}

/** Makes the bindings of an epoch of a queue: other queues, the directory, its Worker and its HTTP endpoint. */
export function bindingsOf(
  queue: CallingQueue,
  epoch: Epoch,
  leave: Leave,
): { readonly env: object; readonly endpoints: EndpointPort | null } {
  const { consumer } = queue;
  const env = {
    SLUICE_QUEUES: namespaceOf((target) => ({
      take: (_name: string, transfer: Transfer) => leave(() => transferTo(queue, target, transfer)),
    })),
    SLUICE_DIRECTORY: namespaceOf(() => directoryFor(queue, leave)),
    ...(consumer && {
      CONSUMER: {
        deliver: (delivery: Delivery) =>
          leave(async () => deliveryReply(await consumer.deliver(epoch, delivery))),
        callsOf: (deliveryId: string) => leave(() => consumer.callsOf(epoch, deliveryId)),
        ping: () => {
          const probe = consumer.nextProbe(epoch);
          return leave(() => consumer.ping(epoch, probe));
        },
      },
    }),
  };
  return { env, endpoints: endpointsOf(queue, epoch, leave) };
}

function endpointsOf({ endpoint, world }: CallingQueue, epoch: Epoch, leave: Leave): EndpointPort | null {
  if (endpoint === null) return null;
  const port: EndpointPort = {
    post: (request) => {
      const calledMs = world.nowMs;
      return leave(() => endpoint.post(epoch, request, calledMs));
    },
    isReady: (_url, _path, timeoutMs) => {
      epoch.probes += 1;
      const probe = epoch.probes;
      return leave(() => endpoint.isReady(epoch, probe, timeoutMs));
    },
  };
  return world.bug?.wrapEndpoint?.(port) ?? port;
}

/** The directory, or `DeployedSettings` in its place in a history without a directory. */
function directoryFor({ world }: CallingQueue, leave: Leave): object {
  const { directory, deployed } = world;
  if (directory !== null) {
    const ask =
      (method: string) =>
      (...args: unknown[]) =>
        leave(() => directory.ask(method, ...args));
    return Object.fromEntries(DIRECTORY_METHODS.map((method) => [method, ask(method)]));
  }
  return {
    opened: (name: string) => leave(async () => deployed.opened(name)),
    ensureQueue: (name: string) => leave(async () => deployed.ensureQueue(name)),
    findByName: (name: string) =>
      leave(() => exchange(world, async (): Promise<QueueRecord | null> => deployed.record(name))),
    undeliverable: (_topicObject: string, name: string) =>
      leave(async () => world.queueNamed(name)?.gone?.fate ?? { kind: "dropped", reason: "as drawn" }),
    report: () => leave(async () => null),
  };
}

/** Retags the messages of move tasks in a transfer: they arrive as other messages. */
function travelling({ ledger }: CallingQueue, { id, packed, more, ...rest }: Transfer): Transfer {
  const itemOf = (item: TransferItem): TransferItem => {
    const pendingBatch = ledger.pendingBatches.get(item.id);
    return pendingBatch?.isMove === true
      ? { id: item.id, packed: retagged(item.packed, pendingBatch.tags) }
      : item;
  };
  return { ...rest, ...itemOf({ id, packed }), ...(more && { more: more.map(itemOf) }) };
}

async function transferTo(queue: CallingQueue, targetName: string, sent: Transfer): Promise<TransferReply> {
  const { name, index, world } = queue;
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
    const taken = await target.call<TransferReply>("take", targetName, copyOf(transfer));
    // The target refuses none: every message of a history can be read.
    for (const pendingBatch of pendingBatches) {
      // A batch that was on its way when its queue was deleted counts no longer.
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
