import type { QueuePorts } from "@sluice/broker/testing";
import { EndpointCaller, EndpointConsumer, type EndpointPort, formatOf } from "@sluice/broker/testing";
import type { HttpEndpoint } from "../actors/http-endpoint.ts";
import type { Life } from "./life.ts";
import type { QueueObject } from "./queue-object.ts";

/** Makes a call one that leaves the object. */
type Leave = <Answer>(start: (done: (answer: Answer) => void) => void) => Promise<Answer>;

/** The way from one life of a queue to its HTTP endpoint, with the broker's own callers on it. */
export function endpointPortsOf(
  queue: QueueObject,
  endpoint: HttpEndpoint,
  life: Life,
  { log, clock }: Pick<QueuePorts, "log" | "clock">,
  leave: Leave,
): Required<Pick<QueuePorts, "consumerOf" | "daemonOf">> {
  const way: EndpointPort = {
    post: (request) => {
      const calledMs = queue.world.nowMs;
      return leave((done) => endpoint.post(life, request, calledMs, done));
    },
    isReady: (_url, _path, timeoutMs) => {
      life.probes += 1;
      const probe = life.probes;
      return leave((done) => endpoint.isReady(life, probe, timeoutMs, done));
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
      variable: () => undefined,
    });
  };
  return {
    consumerOf: () => {
      const caller = callerOf();
      const format = caller && formatOf(caller.settings.format);
      return caller && format && new EndpointConsumer(caller, format);
    },
    daemonOf: () => {
      const caller = callerOf();
      return caller?.settings.format === "sqsd" ? caller : null;
    },
  };
}
