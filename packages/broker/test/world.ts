import {
  ALERTS_QUEUE,
  type AlertSettings,
  type DeliveryResult,
  deliveryReply,
  type QueueDefinition,
  type QueueUsage,
  type SendReply,
  type ShardMap,
  shardOf,
} from "@sluice/protocol";
import { resultOf } from "@sluice/protocol/test/delivery-result";
import type { EndpointOutcome, EndpointPort, EndpointRequest } from "../src/endpoint/endpoint.ts";
import { EndpointConsumer } from "../src/endpoint/endpoint-consumer.ts";
import { formatOf } from "../src/endpoint/formats/index.ts";
import type { TargetRules } from "../src/endpoint/target.ts";
import type { HistoryObserver } from "../src/history/observer.ts";
import { newId } from "../src/platform/new-id.ts";
import type { ConsumerPort } from "../src/push/delivery-result.ts";
import { noteClockMoved } from "../src/queue/note-clock.ts";
import { QueueCore } from "../src/queue/queue-core.ts";
import type { ShardPorts } from "../src/queue/queue-part.ts";
import type { QueuePorts } from "../src/queue/queue-ports.ts";
import type { Transfer, TransferReply } from "../src/rpc/transfer.ts";
import type { Traces } from "../src/tracing/traces.ts";
import { LINGER_MS } from "../src/turn/group-commit.ts";
import { HEARTBEAT_MS } from "../src/turn/heartbeat.ts";
import { AwakeTime } from "../src/usage/awake-time.ts";
import { NO_COUNTS } from "../src/usage/month-usage.ts";
import type { MemoryStore } from "./memory-store.ts";
import { definition, packTexts, type SeenBatch, type SendOptions, seenOf } from "./messages.ts";
import { answered, callerOf } from "./world-endpoint.ts";
import {
  clockOf,
  type Gated,
  type Life,
  newObject,
  notedLog,
  outOf,
  type QueueObject,
  sent,
} from "./world-object.ts";

/** When a world begins, in ms since 1970. */
export const WORLD_START_MS = 1_700_000_000_000;

/** Time until an alarm rings again whose handler was cut off, in ms. */
const RING_AGAIN_MS = 2_000;

const NO_USAGE: QueueUsage = { ...NO_COUNTS, month: "2023-11", sinceMs: WORLD_START_MS };

/** Alarms at one moment of the clock after which a queue is taken to spin. */
const ALARMS_PER_MOMENT_MAX = 1_000;

/** Behaviour of the test's consumer for a batch. */
export type Handler = (batch: SeenBatch) => Partial<DeliveryResult> | Promise<Partial<DeliveryResult>>;

/**
 * Queues wired together as the Durable Objects of a broker are, on a clock of their own: each has a store, one alarm
 * and a consumer, hands messages to the others, and can crash. As in workerd nothing leaves an object before what it
 * wrote is durable.
 */
export class World {
  nowMs = WORLD_START_MS;
  /** Time by which `nowMs` was moved by hand, as `move` does it. */
  movedMs = 0;
  /** Whether the queues' clock goes on by 1 ms whenever it is read, as one may outside of Workers. */
  ticks = false;
  readonly queues: Record<string, QueueDefinition>;
  /** Maps that the objects go by, by their names. */
  readonly maps = new Map<string, ShardMap>();
  /** Batches that reached the consumer, in order. */
  readonly seen: SeenBatch[] = [];
  /** Lines of the log, with their level. */
  readonly lines: string[] = [];
  /** Calls of `handled`: [queue, acknowledged, total]. */
  readonly handled: [queue: string, acked: number, total: number][] = [];
  /** How long each of those took, in ms. */
  readonly tookMs: number[] = [];
  /** Errors that queues reported as broken before they were started again. */
  readonly broken: unknown[] = [];
  /** Every alarm that was set, with the queue's name, in ms from the start of the world. */
  readonly alarms: [queue: string, atMs: number][] = [];
  /** How many of them were written: one that is later than the one that is set is not. */
  alarmsWritten = 0;
  /** Time in which queues' objects could not sleep since they started, but for timers. */
  readonly awake = new Map<string, AwakeTime>();
  handler: Handler = () => ({});
  /** Whether the consumer's Worker runs: calls of one that does not are rejected. */
  running = true;
  /** Whether the broker was started with the consumer's Worker. */
  hasConsumer = true;
  /** Whether rows are billed. */
  isBilled = false;
  pings = 0;
  /** Carries messages from one queue to another. A test puts its own in to lose a call or its answer. */
  carry = (
    _target: string,
    _transfer: Transfer,
    deliver: () => Promise<TransferReply | undefined>,
  ): Promise<TransferReply | undefined> => deliver();
  /** Calls the consumer. A test puts its own in for what no handler can do. */
  deliver: ConsumerPort["deliver"] = async (delivery) => {
    if (!this.running) throw new Error("the Worker is not running");
    const batch = seenOf(delivery);
    this.seen.push(batch);
    return deliveryReply(resultOf(await this.handler(batch)));
  };
  /** Asks the consumer what the handler of a delivery has called that has no result. */
  callsOf: ConsumerPort["callsOf"] = async () => {
    if (!this.running) throw new Error("the Worker is not running");
    return null;
  };
  /** Asks the directory whether a queue exists. */
  exists = async (queue: string): Promise<boolean> => this.queues[queue] !== undefined;
  /** Makes what traces a queue. Default: nothing does. */
  tracesOf = (_queue: string): Traces | null => null;
  /** Way of a queue to the other shards of its queue. Default: it has none. Set it before the queues start. */
  shardPortsOf = (_queue: string): ShardPorts | undefined => undefined;
  /** How long messages wait that a crash has cut off, in ms. */
  cutOffDelayMs = 0;
  /** Why an end that counts has cut deliveries off. */
  cutOffReason = "the broker stopped during its last delivery";
  /** Until when nothing is delivered, in ms since 1970. */
  heldUntilMs = 0;
  /** Asks the consumer whether it runs. */
  ping = async (): Promise<void> => {
    this.pings += 1;
    if (!this.running) throw new Error("the Worker is not running");
  };
  /** Requests that were posted to HTTP endpoints, with their moment in ms from the start of the world. */
  readonly posts: (EndpointRequest & { readonly atMs: number })[] = [];
  /** Answers in the place of an HTTP endpoint. */
  answer: (request: EndpointRequest) => EndpointOutcome | Promise<EndpointOutcome> = () => answered(200);
  /** Whether an endpoint is ready. */
  ready: EndpointPort["isReady"] = async () => this.running;
  /**
   * Whether a settlement may wait for a commit to share, as it may in the Durable Object. Set it before the queues
   * start.
   */
  sharesCommits = false;
  /** Is notified of all that happens. Set it before the queues start. */
  observer: HistoryObserver | undefined = undefined;
  /** Whether queues that are not set to anything keep a history. Set it before the queues start. */
  keepsHistory = false;
  /** Settings of alerts. Set them, by `withAlerts`, before the queues start. */
  alerts: AlertSettings | undefined = undefined;
  /** Whether alerts may quote what handlers say. */
  quotesFailures = true;
  readonly #timers: { readonly atMs: number; readonly ring: () => void }[] = [];
  /** Environment variables of the broker. */
  readonly variables: Record<string, string> = {};
  /** Account of the broker. Set it before the queues start. */
  account: string | undefined = undefined;
  targets: TargetRules = { privateAllowed: false, allowedHosts: [] };
  readonly #objects = new Map<string, QueueObject>();

  constructor(queues: Record<string, Partial<QueueDefinition>>) {
    this.queues = Object.fromEntries(
      Object.entries(queues).map(([name, changes]) => [name, definition(changes)]),
    );
  }

  /** The queue's core, started if it is not running. */
  core(name: string): QueueCore {
    const object = this.#object(name);
    object.life ??= this.#start(name, object);
    return object.life.core;
  }

  store(name: string): MemoryStore {
    return this.#object(name).store;
  }

  /** When the queue's alarm rings, in ms from now; `null` if it is not set. */
  alarmIn(name: string): number | null {
    const { alarmAtMs } = this.#object(name);
    return alarmAtMs === null ? null : alarmAtMs - this.nowMs;
  }

  send(queue: string, bodies: readonly string[], options: SendOptions = {}): Promise<SendReply> {
    const { delaySeconds } = options;
    const packed = packTexts(bodies, options);
    return this.core(queue).send([{ packed, ...(delaySeconds === undefined ? {} : { delaySeconds }) }]);
  }

  /** Sends messages, and lets time pass then. */
  async sendAndPass(queue: string, bodies: readonly string[], ms = 0, options?: SendOptions): Promise<void> {
    await this.send(queue, bodies, options);
    await this.pass(ms);
  }

  /**
   * Ends a queue's object and takes away what was not durable. It starts again when it is called or its alarm rings.
   *
   * @param wasPlanned whether the next epoch is told that it was ended on purpose.
   */
  crash(name: string, wasPlanned = false): void {
    const object = this.#object(name);
    object.wasEndPlanned = wasPlanned;
    if (object.life !== null) object.life.alive = false;
    object.life = null;
    object.store = object.store.crash();
    if (object.isRinging) object.alarmAtMs ??= this.nowMs + RING_AGAIN_MS;
    object.isRinging = false;
  }

  /** Crashes a queue's object, and starts it again. */
  restart(name: string, wasPlanned = false): void {
    this.crash(name, wasPlanned);
    this.core(name);
  }

  /**
   * Lets everything happen that needs no time. Promises only are awaited in here, so one round of the event loop does.
   */
  quiet(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve));
  }

  /** Moves the clock of the queues forward, as an operator does: no alarm rings. */
  move(ms: number): void {
    this.nowMs += ms;
    this.movedMs += ms;
  }

  /** Lets time pass, ringing every alarm at its moment. */
  async pass(ms: number): Promise<void> {
    const untilMs = this.nowMs + ms;
    await this.quiet();
    let alarms = 0;
    await this.#ringTimers(untilMs);
    for (let next = this.#nextAlarm(untilMs); next !== undefined; next = this.#nextAlarm(untilMs)) {
      const [name, object, atMs] = next;
      alarms = atMs > this.nowMs ? 0 : alarms + 1;
      if (alarms > ALARMS_PER_MOMENT_MAX) throw new Error(`the alarm of queue "${name}" spins`);
      this.nowMs = Math.max(this.nowMs, atMs);
      object.alarmAtMs = null;
      // A turn that fails has reported itself as broken, and the object is down by now.
      this.#ring(name, object);
      await this.quiet();
      await this.#ringTimers(untilMs);
    }
    this.nowMs = untilMs;
  }

  #ring(name: string, object: QueueObject): void {
    const core = this.core(name);
    if (!this.isBilled) {
      void core.wake();
      return;
    }
    object.isRinging = true;
    const stay = (rested: Promise<void>) =>
      Promise.race([rested, new Promise<void>((resolve) => this.#after(resolve, HEARTBEAT_MS))]);
    void core.ring(stay).then(() => {
      if (object.life?.core === core) object.isRinging = false;
    });
  }

  /** Posts a request to an HTTP endpoint, in whose place `answer` answers. */
  async post(request: EndpointRequest): Promise<EndpointOutcome> {
    this.posts.push({ ...request, atMs: this.nowMs - WORLD_START_MS });
    return this.answer(request);
  }

  #after(ring: () => void, ms: number): void {
    this.#timers.push({ atMs: this.nowMs + ms, ring });
    this.#timers.sort((a, b) => a.atMs - b.atMs);
  }

  /** Moves the clock of all queues forward, as a developer does. */
  async moveClock(ms: number): Promise<void> {
    this.nowMs += ms;
    for (const { life } of this.#objects.values()) {
      const core = life?.core;
      if (core !== undefined) await core.submit(() => noteClockMoved(core, ms));
    }
    await this.pass(0);
  }

  /** Rings what comes before the next alarm, or with it. */
  async #ringTimers(untilMs: number): Promise<void> {
    for (let next = this.#timers[0]; next !== undefined; next = this.#timers[0]) {
      if (next.atMs > (this.#nextAlarm(untilMs)?.[2] ?? untilMs)) return;
      this.#timers.shift();
      this.nowMs = Math.max(this.nowMs, next.atMs);
      next.ring();
      await this.quiet();
    }
  }

  #object(name: string): QueueObject {
    const known = this.#objects.get(name);
    if (known !== undefined) return known;
    const object = newObject();
    this.#objects.set(name, object);
    return object;
  }

  #nextAlarm(untilMs: number): [string, QueueObject, number] | undefined {
    let next: [string, QueueObject, number] | undefined;
    for (const [name, object] of this.#objects) {
      const { alarmAtMs } = object;
      // No alarm rings while one does.
      if (object.isRinging) continue;
      if (alarmAtMs !== null && alarmAtMs <= untilMs && alarmAtMs < (next?.[2] ?? Infinity)) {
        next = [name, object, alarmAtMs];
      }
    }
    return next;
  }

  #start(name: string, object: QueueObject): Life {
    const { store } = object;
    store.leaveRowsOver(() => ({ messages: 0, usage: NO_USAGE }));
    let life: Life | undefined;
    // While the core's constructor runs there is no epoch yet, and nothing can have ended it.
    const alive = () => life?.alive !== false;
    const gated: Gated = (call) => {
      return (...args) => outOf(store, alive, () => call(...args));
    };
    const consumer: ConsumerPort = {
      name: "consumer",
      deliver: gated((delivery) => this.deliver({ ...delivery, packed: sent(delivery.packed) })),
      callsOf: gated((deliveryId) => this.callsOf(deliveryId)),
      ping: gated(() => this.ping()),
    };
    const log = notedLog(this, alive);
    const setAlarm = (atMs: number) => {
      if (!alive()) return;
      this.alarms.push([name, atMs - WORLD_START_MS]);
      if (atMs < (object.alarmAtMs ?? Infinity)) this.alarmsWritten += 1;
      object.alarmAtMs = Math.min(object.alarmAtMs ?? Infinity, atMs);
    };
    const awake = new AwakeTime(() => this.nowMs);
    this.awake.set(name, awake);
    const ports: QueuePorts = {
      store,
      cutOffCounts: !object.wasEndPlanned,
      cutOffDelayMs: this.cutOffDelayMs,
      cutOffReason: this.cutOffReason,
      heldUntilMs: () => this.heldUntilMs,
      keepsHistory: this.keepsHistory,
      alerts:
        this.alerts === undefined || name === ALERTS_QUEUE
          ? undefined
          : { settings: this.alerts, quotesFailures: () => this.quotesFailures },
      clock: clockOf(this),
      log,
      definition: () => this.queues[shardOf(name).queue],
      shardMap: () => this.maps.get(name),
      consumer: () => {
        const definition = this.queues[shardOf(name).queue]?.consumer;
        if (definition?.type === "http_push") {
          const format = formatOf(definition.settings.format);
          return format && new EndpointConsumer(callerOf(this, definition.settings, gated, log), format);
        }
        return definition?.type === "worker" && this.hasConsumer ? consumer : null;
      },
      daemon: () => {
        const definition = this.queues[shardOf(name).queue]?.consumer;
        return definition?.type === "http_push" && definition.settings.format === "sqsd"
          ? callerOf(this, definition.settings, gated, log)
          : null;
      },
      account: this.account,
      queueExists: gated((queue) => this.exists(queue)),
      transfer: gated((target, transfer) => {
        const more = transfer.more?.map((item) => ({ ...item, packed: sent(item.packed) }));
        const copy = { ...transfer, packed: sent(transfer.packed), ...(more && { more }) };
        return this.carry(target, copy, () => this.core(target).inbox.accept(copy));
      }),
      after: (callback: () => void, ms: number) => {
        this.#after(() => alive() && callback(), ms);
      },
      lingerMs: this.sharesCommits ? LINGER_MS : 0,
      heartbeatMs: HEARTBEAT_MS,
      ringsSoon: () =>
        this.isBilled && object.alarmAtMs !== null && object.alarmAtMs <= this.nowMs + HEARTBEAT_MS,
      isBilled: this.isBilled,
      setAlarm,
      // Those who wait are woken by the alarm too, which a test can look at.
      setTimer: setAlarm,
      awake,
      epochKnown: 0,
      observer: this.observer,
      traces: this.tracesOf(name),
      shard: this.shardPortsOf(name),
      jitterSeed: "",
      writeFirst: () => {},
      newMessageId: newId,
      broken: (error) => {
        if (!alive()) return;
        this.broken.push(error);
        this.crash(name);
      },
    };
    const core = new QueueCore(name, ports);
    core.begin();
    life = { core, alive: true };
    return life;
  }
}

/** A world whose queues keep a history. */
export function worldWithHistory(queues: Record<string, Partial<QueueDefinition>>): World {
  const world = new World(queues);
  world.keepsHistory = true;
  return world;
}
