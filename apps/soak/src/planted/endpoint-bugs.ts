import type { EndpointOutcome, EndpointPort } from "@sluice/broker";
import type { QueuePorts } from "@sluice/broker/testing";
import { CREDENTIALS } from "../scenario/endpoint-scenario.ts";
import { atEndpoint, inCore, inPorts, type PlantedBug } from "../world/planted-bug.ts";
import { alterConsumer, alterStore, everyNth } from "./alter.ts";

const CLOSED: EndpointOutcome = { kind: "closed", reason: "as planted" };
const DONE: EndpointOutcome = { kind: "answered", status: 200, retryAfter: null };

/** Mistakes in calls to HTTP endpoints, of consumers and of worker daemons, and in the throttle. */
export const ENDPOINT_BUGS: readonly PlantedBug[] = [
  atEndpoint(
    "attempts",
    "an endpoint that is not there costs an attempt",
    alterOutcome((outcome) => (outcome.kind === "unreachable" ? CLOSED : outcome)),
  ),
  inPorts("attempts", "an endpoint that dies of a message gets it for ever", (ports) =>
    alterConsumer(ports, () => ({ returnsOnTrial: false })),
  ),
  atEndpoint(
    "attempts",
    "a notification that its endpoint refuses for good is tried again",
    alterOutcome((outcome) =>
      outcome.kind === "answered" && outcome.status >= 300 ? { ...outcome, status: 503 } : outcome,
    ),
  ),
  atEndpoint(
    "due time",
    "what an endpoint asks for in Retry-After is not heard",
    alterOutcome((outcome) => (outcome.kind === "answered" ? { ...outcome, retryAfter: null } : outcome)),
  ),
  inPorts("due time", "a retry policy has another jitter", (ports) => ({ ...ports, jitterSeed: "another" })),
  atEndpoint(
    "conservation",
    "a request that ends without an answer counts as done",
    alterOutcome((outcome) => (outcome.kind === "answered" ? outcome : DONE)),
  ),
  atEndpoint(
    "acked is final",
    "an answer of 200 counts as an error",
    alterOutcome((outcome) =>
      outcome.kind === "answered" && outcome.status === 200 ? { ...outcome, status: 500 } : outcome,
    ),
  ),
  inCore(
    "one live lease",
    "a message is visible again after half its visibility timeout",
    ({ receivers }) => {
      const { takeNow } = receivers;
      receivers.takeNow = (max, visibilityMs, nowMs) => takeNow.call(receivers, max, visibilityMs / 2, nowMs);
    },
  ),
  inPorts("one live lease", "a worker daemon has no ErrorVisibilityTimeout", (ports) => ({
    ...ports,
    daemon: () => withoutErrorTimeout(ports),
  })),
  inCore("drained", "a worker daemon that is to stop goes on", (core) => {
    core.drain = () => core.submit(() => ({ requests: 0 }));
  }),
  inPorts("periodic tasks", "a restart forgets which runs of periodic tasks were made", (ports) =>
    alterStore(ports, {
      writeNote: (key, bytes) => {
        if (key !== "periodic-tasks") ports.store.writeNote(key, bytes);
      },
    }),
  ),
  inCore("periodic tasks", "every other run of a periodic task is left out", ({ intake }) => {
    const { accept } = intake;
    const isLeftOut = everyNth(2);
    intake.accept = (batches) => {
      const isTask = batches.some(({ index }) => index.contentType(0) === "text");
      if (!isTask || !isLeftOut()) accept.call(intake, batches);
    };
  }),
  inPorts("alarm armed", "nothing wakes the queue for periodic tasks", (ports) => ({
    ...ports,
    setAlarm: (atMs) => {
      if (atMs % 60_000 !== 0) ports.setAlarm(atMs);
    },
  })),
  inCore("throttle", "the throttle lets everything through", ({ throttle }) => {
    throttle.delivered = () => {};
  }),
  inCore("throttle", "a restart forgets what the throttle has let through", (core) => {
    const forgetful = Reflect.construct(core.throttle.constructor, [core, false]);
    // The methods use private fields, so each member is called on `forgetful` itself.
    Object.defineProperties(core.throttle, {
      nextMs: { get: () => forgetful.nextMs },
      isOn: { get: () => forgetful.isOn },
      room: { get: () => forgetful.room },
      delivered: { value: (messages: number) => forgetful.delivered(messages) },
    });
  }),
  atEndpoint(
    "one live lease",
    "an endpoint that asks for authorization gets none",
    alterOutcome((outcome) => (outcome.kind === "answered" ? { ...outcome, challenge: null } : outcome)),
  ),
  atEndpoint("authorization", "credentials are shown to whoever is called", (port) => ({
    ...port,
    post: (request) => {
      const authorization = `Basic ${btoa(`${CREDENTIALS.username}:${CREDENTIALS.password}`)}`;
      return port.post({ ...request, headers: { authorization, ...request.headers } });
    },
  })),
  atEndpoint("authorization", "every challenge gets the answer to the first one", (port) => {
    let first: string | undefined;
    return {
      ...port,
      post: (request) => {
        const { authorization } = request.headers;
        if (authorization === undefined) return port.post(request);
        first ??= authorization;
        return port.post({ ...request, headers: { ...request.headers, authorization: first } });
      },
    };
  }),
  atEndpoint("liveness", "a request whose time is over never ends", (port) => ({
    ...port,
    post: async (request) => {
      const outcome = await port.post(request);
      return outcome.kind === "timedOut" ? new Promise(() => {}) : outcome;
    },
  })),
];

function alterOutcome(
  change: (outcome: EndpointOutcome) => EndpointOutcome,
): (port: EndpointPort) => EndpointPort {
  return (port) => ({ ...port, post: async (request) => change(await port.post(request)) });
}

function withoutErrorTimeout(ports: QueuePorts): ReturnType<QueuePorts["daemon"]> {
  const caller = ports.daemon();
  const daemon = caller?.settings.daemon;
  if (caller === null || daemon === undefined) return caller;
  // The caller's methods use private fields, so they are called on the caller itself.
  return new Proxy(caller, {
    get(target, name) {
      if (name === "settings") {
        return { ...target.settings, daemon: { ...daemon, errorVisibilityTimeoutSeconds: null } };
      }
      const value = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
