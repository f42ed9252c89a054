import { DurableObject } from "cloudflare:workers";
import type {
  BacklogMetrics,
  QueueBrokerRpc,
  QueueConsumerRpc,
  QueueDescription,
  QueueTopology,
  SendReply,
  SendRequest,
} from "@sluice/protocol";
import { Alarm } from "./alarm.ts";
import { MovableClock, systemClock } from "./clock.ts";
import { createConsoleLog } from "./log.ts";
import type { ConsumerPort, HandOver, QueuePorts } from "./ports.ts";
import { QueueCore } from "./queue-core.ts";
import { SqliteStore } from "./sqlite-store.ts";

/** When the alarm rings again after what it called failed, in ms. */
const ALARM_AGAIN_MS = 1_000;

/** Bindings of the broker Worker. */
export interface BrokerEnv {
  readonly SLUICE_QUEUES: DurableObjectNamespace<QueueBrokerObject>;
  /** `development` allows to move the clock. Absent on a deployed broker. */
  readonly SLUICE_ENV?: string;
  readonly [binding: string]: unknown;
}

/** What the broker is deployed with. */
export interface BrokerOptions {
  readonly topology: QueueTopology;
  /** Names of the service bindings to consumers' entrypoints, by Worker name. */
  readonly consumers: Readonly<Record<string, string>>;
}

/** A queue's Durable Object as its callers see it. */
export interface QueueBrokerObject extends QueueBrokerRpc, Rpc.DurableObjectBranded {
  take(queue: string, handOver: HandOver): Promise<void>;
  /** Development only: moves this queue's clock forward. */
  advanceClock(queue: string, ms: number): Promise<void>;
}

/** The Durable Object class of a broker: one object per queue, named like it. It delegates; `QueueCore` decides. */
export function createQueueBroker(options: BrokerOptions) {
  return class QueueBroker extends DurableObject<BrokerEnv> implements QueueBrokerObject {
    readonly #store: SqliteStore;
    readonly #clock: MovableClock;
    readonly #alarm: Alarm;
    #core: QueueCore | undefined;

    constructor(ctx: DurableObjectState, env: BrokerEnv) {
      super(ctx, env);
      this.#store = new SqliteStore(ctx.storage);
      this.#clock = new MovableClock(systemClock, this.#store.readClockOffsetMs());
      this.#alarm = new Alarm(this.#clock, (realMs) => void ctx.storage.setAlarm(realMs));
      const name = this.#store.readName();
      // Calls wait until the alarm is known and the queue is loaded; a queue that was never written has nothing to load.
      void ctx.blockConcurrencyWhile(async () => {
        this.#alarm.found(await ctx.storage.getAlarm());
        if (name !== null) this.#coreOf(name);
      });
    }

    async send(queue: string, requests: readonly SendRequest[]): Promise<SendReply> {
      return this.#coreOf(queue).send(requests);
    }

    async take(queue: string, handOver: HandOver): Promise<void> {
      await this.#coreOf(queue).take(handOver);
    }

    async metrics(queue: string): Promise<BacklogMetrics> {
      return this.#coreOf(queue).metrics();
    }

    async describe(queue: string): Promise<QueueDescription> {
      const description = this.#coreOf(queue).describe();
      return { ...description, rowsWritten: description.rowsWritten + this.#alarm.timesWritten };
    }

    async advanceClock(queue: string, ms: number): Promise<void> {
      if (this.env.SLUICE_ENV !== "development") throw new Error("the clock moves in development only");
      const core = this.#coreOf(queue);
      await core.submit(() => {
        this.#clock.advance(ms);
        core.write(() => this.#store.writeClockOffsetMs(this.#clock.offsetMs));
      });
      // The alarm that is set was computed with the old offset.
      this.#alarm.clear();
      await core.wake();
    }

    /** Must never throw: after six failures in a row the platform drops the alarm for ever. */
    override async alarm(): Promise<void> {
      this.#alarm.clear();
      try {
        await this.#core?.wake();
      } catch (error) {
        console.error(`Queue "${this.#core?.name}": ${error}`);
        this.#alarm.set(this.#clock.now() + ALARM_AGAIN_MS);
      }
    }

    #coreOf(queue: string): QueueCore {
      this.#core ??= new QueueCore(queue, this.#ports());
      if (this.#core.name !== queue) {
        throw new Error(`the object of queue "${this.#core.name}" was asked for queue "${queue}"`);
      }
      return this.#core;
    }

    #ports(): QueuePorts {
      const now = () => this.#clock.now();
      return {
        store: this.#store,
        clock: this.#clock,
        log: createConsoleLog(console, now, (callback, ms) => void setTimeout(callback, ms)),
        definitionOf: (queue) => own(options.topology.queues, queue),
        consumerOf: (queue) => this.#consumerOf(queue),
        handOver: (target, handOver) =>
          this.env.SLUICE_QUEUES.get(this.env.SLUICE_QUEUES.idFromName(target)).take(target, handOver),
        setAlarm: (atMs) => this.#alarm.set(atMs),
        broken: (error) => this.ctx.abort(`a commit failed, the queue starts again from its store: ${error}`),
      };
    }

    #consumerOf(queue: string): ConsumerPort | null {
      const worker = own(options.topology.queues, queue)?.consumer?.worker;
      if (worker === undefined) return null;
      const binding = this.env[own(options.consumers, worker) ?? ""] as QueueConsumerRpc | undefined;
      if (binding === undefined) return null;
      return {
        name: worker,
        deliver: (delivery) => binding.deliver(delivery),
        ping: () => binding.ping(),
      };
    }
  };
}

/** A queue may be called "constructor": only what the record itself holds counts. */
function own<Value>(record: Readonly<Record<string, Value>>, key: string): Value | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}
