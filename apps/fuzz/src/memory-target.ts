import { MemoryTopics } from "@sluice/broker/testing/memory-topics";
import { World } from "@sluice/broker/testing/world";
import {
  type AccountDirectory,
  type AwsAccess,
  createGateway,
  PREFIX,
  type QueueDirectory,
} from "@sluice/gateway";
import { MemoryAccount } from "@sluice/gateway/testing/memory-account";
import { QUEUE_ERROR_CODES } from "@sluice/protocol";
import { ANSWER_MS_MAX, Hang, type Target } from "./target.ts";

type QueueObject = ReturnType<QueueDirectory["queue"]>;

const ORIGIN = "http://localhost:8787";
const HOME = { region: "us-east-1", account: "000000000000" };
const OPEN: AwsAccess = { kind: "open", pages: () => null };
/** Steps in which the clock moves while somebody waits for an answer, in ms. */
const STEP_MS = 1_000;

/**
 * The real gateway over real queues (`QueueCore`), in this process and in memory, on a clock of its own: a long poll
 * costs no time. Of the Durable Objects there is the structured clone of each call, and nothing else.
 */
export function memoryTarget(access: AwsAccess = OPEN): Target {
  const world = new World({});
  const gateway = createGateway(
    directoryOf(world),
    { kind: "open", hosts: [], routeHosts: [] },
    { access, settings: { home: HOME, isStrictAboutTime: false } },
  );
  return {
    endpoint: `${ORIGIN}${PREFIX}/aws`,
    fetch: async (request) => {
      const pending: { answer: Response | null } = { answer: null };
      const answered = Promise.resolve(gateway.fetch(request)).then((answer) => {
        pending.answer = answer;
      });
      await Promise.race([answered, world.quiet()]);
      for (let waitedMs = 0; pending.answer === null; waitedMs += STEP_MS) {
        if (waitedMs > ANSWER_MS_MAX) throw new Hang(`no answer within ${ANSWER_MS_MAX} ms`);
        await Promise.race([answered, world.pass(STEP_MS)]);
      }
      return pending.answer;
    },
  };
}

function directoryOf(world: World): QueueDirectory {
  const revisions = new Map<string, number>();
  const topics = new MemoryTopics();
  return {
    account: accountOf(world, revisions),
    topics: topics.rpc,
    topic: (name) => ({
      publish: async (_, request) => {
        const { topic } = world.core(name);
        topic.changed(topics.versionOfObject(name));
        return topic.publish(request);
      },
    }),
    queue: (name) => overRpc<QueueObject>(objectOf(world, name, revisions)),
    describe: async (name) => world.core(name).describe(),
    describeTopic: async (topicObject) => world.core(topicObject).topic.describe(),
    clock: null,
    isLocal: true,
    isServed: true,
    toldDisk: null,
  };
}

/** What the gateway calls on a queue's object for SQS. */
function objectOf(world: World, name: string, revisions: ReadonlyMap<string, number>): Partial<QueueObject> {
  const core = () => {
    if (world.queues[name] !== undefined) return world.core(name);
    throw noSuchQueue(name);
  };
  return {
    receive: async (_, request) => core().receivers.receive(request),
    work: async (_, { enqueue, ...others }) => {
      const isOutdated = (enqueue?.revision ?? Infinity) < (revisions.get(name) ?? 0);
      if (enqueue === undefined || !isOutdated) {
        return { ok: true, ...(await core().work({ ...others, ...(enqueue && { enqueue }) })) };
      }
      return { ok: true, ...(await core().work(others)), enqueued: { ok: "outdated" } };
    },
    release: async (_, receipts) => core().release(receipts),
    cancelReceive: async (_, receiverId) => core().receivers.cancel(receiverId),
    messageCounts: async () => core().messageCounts(),
    purge: async () => core().purge(),
    startMove: async (_, move) => core().moves.begin(move),
    cancelMove: async (_, taskId) => core().moves.cancel(taskId),
    listMoves: async () => core().moves.list(),
  };
}

/** The directory, which tells the queues what they are set to. */
function accountOf(world: World, revisions: Map<string, number>): AccountDirectory {
  const { directory } = new MemoryAccount();
  return overRpc<AccountDirectory>({
    ...directory,
    createQueue: async (queue) => {
      const reply = await directory.createQueue(queue);
      if (!reply.ok) return reply;
      world.queues[queue.name] = reply.record.definition;
      revisions.set(queue.name, reply.record.revision);
      return reply;
    },
    changeQueue: async (queueId, change) => {
      const reply = await directory.changeQueue(queueId, change);
      if (!reply.ok) return reply;
      const { name, definition, revision } = reply.record;
      await world.core(name).reconfigure(
        () => {
          world.queues[name] = definition;
          revisions.set(name, revision);
        },
        () => {},
      );
      return reply;
    },
    deleteQueue: async (queueId) => {
      const reply = await directory.deleteQueue(queueId);
      if (!reply.ok) return reply;
      const { name } = reply.record;
      const core = world.core(name);
      delete world.queues[name];
      core.receivers.fail(noSuchQueue(name));
      await core.purge();
      return reply;
    },
  });
}

/** Calls as RPC carries them: arguments and results are cloned, and what cannot be is an error. */
function overRpc<Methods extends object>(methods: Partial<Methods>): Methods {
  return new Proxy(methods, {
    get: (target, name) => {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== "function") throw new Error(`nothing calls ${String(name)} here`);
      return async (...args: unknown[]) => structuredClone(await method(...structuredClone(args)));
    },
  }) as Methods;
}

function noSuchQueue(name: string): Error {
  return new Error(`queue "${name}" does not exist (${QUEUE_ERROR_CODES.queueNotFound})`);
}
