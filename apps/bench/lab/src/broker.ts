import { env as workerEnv } from "cloudflare:workers";
import { type BrokerEnv, createDirectory, createQueueBroker } from "@sluice/broker";
import { workersPort } from "@sluice/broker/workers-port";
import type { QueueConsumerRpc, QueueTopology, SendReply, SendRequest } from "@sluice/protocol";
import type { Bill } from "./bill.ts";
import { Meter } from "./meter.ts";

// The broker's classes, with a meter that counts their calls from outside.
const { TOPOLOGY } = workerEnv as unknown as { readonly TOPOLOGY: QueueTopology };
const options = { topology: TOPOLOGY, consumers: { driver: "CONSUMER" } };
const Broker = createQueueBroker(options, workersPort);

const meters = new WeakMap<DurableObjectState, Meter>();

export const Directory = createDirectory(options);

export class QueueBroker extends Broker {
  readonly #meter: Meter;

  constructor(ctx: DurableObjectState, env: BrokerEnv) {
    super(countCommits(ctx), countDeliveries(env, meterOf(ctx)));
    this.#meter = meterOf(ctx);
  }

  override send(queue: string, requests: readonly SendRequest[]): Promise<SendReply> {
    return this.#meter.request(() => super.send(queue, requests));
  }

  override alarm(): Promise<void> {
    return this.#meter.alarm(() => super.alarm());
  }

  /** Makes the bill. The meter does not count this call, but the object does. */
  async bill(queue: string): Promise<Bill> {
    const { usage } = await super.describe(queue);
    if (usage === undefined) throw new Error(`queue "${queue}" has counted nothing`);
    return { ...this.#meter.read(), usage };
  }
}

export default { fetch: () => new Response("broker") } satisfies ExportedHandler;

function meterOf(ctx: DurableObjectState): Meter {
  const meter = meters.get(ctx) ?? new Meter();
  meters.set(ctx, meter);
  return meter;
}

/** Counts calls of `setAlarm` and `sync`: `ctx.storage` stays the same, so the broker calls the methods put on it. */
function countCommits(ctx: DurableObjectState): DurableObjectState {
  const meter = meterOf(ctx);
  const setAlarm = ctx.storage.setAlarm.bind(ctx.storage);
  Object.defineProperty(ctx.storage, "setAlarm", {
    value: (...args: Parameters<typeof setAlarm>) => {
      meter.alarmSet();
      return setAlarm(...args);
    },
  });
  const sync = ctx.storage.sync.bind(ctx.storage);
  Object.defineProperty(ctx.storage, "sync", {
    value: () => {
      meter.synced();
      return sync();
    },
  });
  return ctx;
}

function countDeliveries(env: BrokerEnv, meter: Meter): BrokerEnv {
  const consumer = env.CONSUMER as QueueConsumerRpc | undefined;
  if (consumer === undefined) return env;
  const counted: QueueConsumerRpc = {
    deliver: (delivery) => meter.active(() => consumer.deliver(delivery)),
    callsOf: (deliveryId) => consumer.callsOf(deliveryId),
    ping: () => consumer.ping(),
  };
  return { ...env, CONSUMER: counted };
}
