import {
  ALERTS_QUEUE,
  alertsUrlOf,
  type ConsumerDefinition,
  type Delivery,
  type HttpPushSettings,
  type NotificationSettings,
  PROTOCOL_VERSION,
  type QueueConsumerRpc,
  type QueueRecord,
  withoutNativeBodies,
} from "@sluice/protocol";
import type { EndpointPort } from "../endpoint/endpoint.ts";
import { EndpointCaller } from "../endpoint/endpoint-caller.ts";
import { EndpointConsumer } from "../endpoint/endpoint-consumer.ts";
import { formatOf } from "../endpoint/formats/index.ts";
import { targetRulesOf } from "../endpoint/target.ts";
import { type EndpointVariables, endpointVariablesOf } from "../endpoint/variables.ts";
import type { Clock } from "../platform/clock.ts";
import type { Host } from "../platform/host.ts";
import type { QueueLog } from "../platform/log.ts";
import type { ConsumerPort } from "../push/delivery-result.ts";
import { withMappedStacks } from "../push/mapped-stacks.ts";
import { NotificationConsumer } from "../push/notification-consumer.ts";
import type { BrokerEnv, BrokerOptions } from "./broker-env.ts";

/** Converts messages that workerd's own queue binding has sent: consumers read Sluice's format alone. */
function withReadableBodies(delivery: Delivery): Delivery {
  const packed = withoutNativeBodies(delivery.packed);
  return packed === delivery.packed ? delivery : { ...delivery, packed };
}

/** Consumers as the broker Worker reaches them: Workers by the bindings it is deployed with, endpoints over HTTP. */
export class BoundConsumers {
  readonly #host: Host<BrokerEnv>;
  readonly #bindings: BrokerOptions["consumers"];
  readonly #endpoints: EndpointPort;
  readonly #variable: EndpointVariables;
  readonly #alertsUrl: string | undefined;

  constructor(host: Host<BrokerEnv>, options: BrokerOptions, endpoints: EndpointPort) {
    this.#host = host;
    this.#bindings = options.consumers;
    this.#variable = endpointVariablesOf(host.env, options.topology);
    this.#alertsUrl = alertsUrlOf(host.env, options.topology);
    this.#endpoints = endpoints;
  }

  /** How the consumer of a queue is called, `null` if this broker cannot. */
  consumerOf(queue: string, consumer: ConsumerDefinition, clock: Clock, log: QueueLog): ConsumerPort | null {
    if (consumer.type === "http_push") return this.#endpointOf(queue, consumer.settings, clock, log);
    if (consumer.type === "notification") return this.#notificationOf(consumer.settings);
    return consumer.type === "worker" ? this.#workerOf(consumer.worker) : null;
  }

  /** How the HTTP endpoint of a queue is called. */
  callerOf(queue: string, settings: HttpPushSettings, clock: Clock, log: QueueLog): EndpointCaller {
    // The name is passed in: an object that its alarm has started does not know it on every platform.
    const isOfAlerts = queue === ALERTS_QUEUE;
    return new EndpointCaller({
      settings: isOfAlerts ? { ...settings, url: this.#alertsUrl ?? settings.url } : settings,
      hidesPath: isOfAlerts,
      port: this.#endpoints,
      clock,
      systemMs: () => this.#host.systemMs(),
      log,
      targets: targetRulesOf(this.#host.env),
      variable: this.#variable,
    });
  }

  /** Warns of a consumer that an API has named and that this broker cannot call: its messages wait. */
  warnOfUnbound(queue: string, record: QueueRecord | null): void {
    const consumer = record?.definition.consumer ?? null;
    if (consumer?.type === "notification" && !this.#showsNotifications) {
      this.#host.log.warn(`Queue "${queue}": this broker sends no notifications; messages wait`);
    }
    if (consumer?.type !== "worker" || this.#workerOf(consumer.worker) !== null) return;
    this.#host.log.warn(
      `Queue "${queue}": its consumer "${consumer.worker}" is not a Worker that this broker was started with; ` +
        `messages wait`,
    );
  }

  /** Whether notifications are shown on the dashboard in place of being sent. */
  get #showsNotifications(): boolean {
    return this.#host.env.SLUICE_ENV === "development";
  }

  #notificationOf(settings: NotificationSettings): ConsumerPort | null {
    return this.#showsNotifications ? new NotificationConsumer(settings) : null;
  }

  #workerOf(worker: string): ConsumerPort | null {
    // A Worker may be called "constructor": only what the record itself holds counts.
    const name = Object.hasOwn(this.#bindings, worker) ? this.#bindings[worker] : undefined;
    const binding = this.#host.env[name ?? ""] as QueueConsumerRpc | undefined;
    if (binding === undefined) return null;
    const deliver = (delivery: Delivery) => binding.deliver(withReadableBodies(delivery), PROTOCOL_VERSION);
    const { SLUICE_STACKS: stacks } = this.#host.env;
    return {
      name: worker,
      deliver:
        stacks === undefined
          ? deliver
          : async (delivery) => withMappedStacks(await deliver(delivery), stacks),
      callsOf: (deliveryId) => binding.callsOf(deliveryId),
      ping: () => binding.ping(PROTOCOL_VERSION),
    };
  }

  #endpointOf(queue: string, settings: HttpPushSettings, clock: Clock, log: QueueLog): ConsumerPort | null {
    const format = formatOf(settings.format);
    return format === null ? null : new EndpointConsumer(this.callerOf(queue, settings, clock, log), format);
  }
}
