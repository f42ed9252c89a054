import type { HttpPushSettings } from "@sluice/protocol";
import type { EndpointOutcome, EndpointPort, EndpointRequest } from "../src/endpoint/endpoint.ts";
import { EndpointCaller } from "../src/endpoint/endpoint-caller.ts";
import type { TargetRules } from "../src/endpoint/target.ts";
import type { QueueLog } from "../src/platform/log.ts";
import type { Gated } from "./world-object.ts";

/** A world as far as its HTTP endpoints go. */
interface EndpointWorld {
  readonly nowMs: number;
  /** Environment variables of the broker. */
  readonly variables: Readonly<Record<string, string>>;
  readonly targets: TargetRules;
  pings: number;
  post(request: EndpointRequest): Promise<EndpointOutcome>;
  readonly ready: EndpointPort["isReady"];
}

/** Makes the caller of an HTTP endpoint whose place the test takes. */
export function callerOf(
  world: EndpointWorld,
  settings: HttpPushSettings,
  gated: Gated,
  log: QueueLog,
): EndpointCaller {
  return new EndpointCaller({
    settings,
    log,
    clock: { now: () => world.nowMs },
    systemMs: () => world.nowMs,
    targets: world.targets,
    variable: (name) => {
      const value = world.variables[name];
      return value === undefined ? { refusal: `the environment variable ${name} is not set` } : { value };
    },
    port: {
      post: gated((request) => world.post(request)),
      isReady: gated((url, path, timeoutMs) => {
        world.pings += 1;
        return world.ready(url, path, timeoutMs);
      }),
    },
  });
}

/** An answer of an HTTP endpoint. */
export function answered(status: number, retryAfter: string | null = null): EndpointOutcome {
  return { kind: "answered", status, retryAfter };
}
