import type { QueuePorts } from "@sluice/broker/testing";
import { EndpointCaller, EndpointConsumer, type EndpointPort, formatOf } from "@sluice/broker/testing";
import type { CalledEndpoint } from "./called.ts";
import type { Epoch } from "./epoch.ts";
import type { QueueObject } from "./queue-object.ts";

/** Makes a call one that leaves the object. */
export type Leave = <Answer>(start: () => Promise<Answer>) => Promise<Answer>;

/** The way from one epoch of a queue to its HTTP endpoint, with the broker's own callers on it. */
export function endpointPortsOf(
  queue: QueueObject,
  endpoint: CalledEndpoint,
  epoch: Epoch,
  { log, clock }: Pick<QueuePorts, "log" | "clock">,
  leave: Leave,
): Required<Pick<QueuePorts, "consumer" | "daemon">> {
  const way: EndpointPort = {
    post: (request) => {
      const calledMs = queue.world.nowMs;
      return leave(() => endpoint.post(epoch, request, calledMs));
    },
    isReady: (_url, _path, timeoutMs) => {
      epoch.probes += 1;
      const probe = epoch.probes;
      return leave(() => endpoint.isReady(epoch, probe, timeoutMs));
    },
  };
  const port = queue.world.bug?.wrapEndpoint?.(way) ?? way;
  const callerOf = () => {
    const { consumer } = queue.definition;
    if (consumer?.type !== "http_push") return null;
    return new EndpointCaller({
      settings: consumer.settings,
      port,
      clock,
      log,
      targets: { privateAllowed: false, allowedHosts: [] },
      variable: (name) => ({ refusal: `the environment variable ${name} is not set` }),
    });
  };
  return {
    consumer: () => {
      const caller = callerOf();
      const format = caller && formatOf(caller.settings.format);
      return caller && format && new EndpointConsumer(caller, format);
    },
    daemon: () => {
      const caller = callerOf();
      return caller?.settings.format === "sqsd" ? caller : null;
    },
  };
}
