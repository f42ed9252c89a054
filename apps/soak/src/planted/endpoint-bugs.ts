import type { EndpointCaller, EndpointOutcome, EndpointPort, QueuePorts } from "@sluice/broker/testing";
import { CREDENTIALS } from "../history/endpoint-scenario.ts";
import { alterConsumer, alterStore, everyNth } from "./alter.ts";
import type { PlantedBug } from "./planted-bug.ts";

const CLOSED: EndpointOutcome = { kind: "closed", reason: "as planted" };
const DONE: EndpointOutcome = { kind: "answered", status: 200, retryAfter: null };

/** Mistakes in how a queue deals with an HTTP endpoint, as its consumer and as its worker daemon, and in the throttle. */
export const ENDPOINT_BUGS: readonly PlantedBug[] = [
  {
    name: "an endpoint that is not there costs an attempt",
    property: "attempts",
    wrapEndpoint: alterOutcome((outcome) => (outcome.kind === "unreachable" ? CLOSED : outcome)),
  },
  {
    name: "an endpoint that dies of a message gets it for ever",
    property: "attempts",
    wrapPorts: (ports) => alterConsumer(ports, () => ({ returnsOnTrial: false })),
  },
  {
    name: "a notification that its endpoint refuses for good is tried again",
    property: "attempts",
    wrapEndpoint: alterOutcome((outcome) =>
      outcome.kind === "answered" && outcome.status >= 300 ? { ...outcome, status: 503 } : outcome,
    ),
  },
  {
    name: "what an endpoint asks for in Retry-After is not heard",
    property: "due time",
    wrapEndpoint: alterOutcome((outcome) =>
      outcome.kind === "answered" ? { ...outcome, retryAfter: null } : outcome,
    ),
  },
  {
    name: "a retry policy has another jitter",
    property: "due time",
    wrapPorts: (ports) => ({ ...ports, jitterSeed: "another" }),
  },
  {
    name: "a request that ends without an answer counts as done",
    property: "conservation",
    wrapEndpoint: alterOutcome((outcome) => (outcome.kind === "answered" ? outcome : DONE)),
  },
  {
    name: "an answer of 200 counts as an error",
    property: "acked is final",
    wrapEndpoint: alterOutcome((outcome) =>
      outcome.kind === "answered" && outcome.status === 200 ? { ...outcome, status: 500 } : outcome,
    ),
  },
  {
    name: "a message is visible again after half its visibility timeout",
    property: "one live lease",
    changeCore: ({ receivers }) => {
      const { takeNow } = receivers;
      receivers.takeNow = (max, visibilityMs, nowMs) => takeNow.call(receivers, max, visibilityMs / 2, nowMs);
    },
  },
  {
    name: "a worker daemon has no ErrorVisibilityTimeout",
    property: "one live lease",
    wrapPorts: (ports) => ({ ...ports, daemonOf: (queue) => withoutErrorTimeout(ports, queue) }),
  },
  {
    name: "a worker daemon that is to stop goes on",
    property: "drained",
    changeCore: (core) => {
      core.drain = () => core.submit(() => ({ requests: 0 }));
    },
  },
  {
    name: "a restart forgets which runs of periodic tasks were made",
    property: "periodic tasks",
    wrapPorts: (ports) =>
      alterStore(ports, {
        writeNote: (key, bytes) => {
          if (key !== "periodic-tasks") ports.store.writeNote(key, bytes);
        },
      }),
  },
  {
    name: "every other run of a periodic task is left out",
    property: "periodic tasks",
    changeCore: ({ intake }) => {
      const { accept } = intake;
      const isLeftOut = everyNth(2);
      intake.accept = (incoming) => {
        const isTask = incoming.some(({ index }) => index.contentType(0) === "text");
        if (!isTask || !isLeftOut()) accept.call(intake, incoming);
      };
    },
  },
  {
    name: "nothing wakes the queue for periodic tasks",
    property: "alarm armed",
    wrapPorts: (ports) => ({
      ...ports,
      setAlarm: (atMs) => {
        if (atMs % 60_000 !== 0) ports.setAlarm(atMs);
      },
    }),
  },
  {
    name: "the throttle lets everything through",
    property: "throttle",
    changeCore: ({ throttled }) => {
      throttled.delivered = () => {};
    },
  },
  {
    name: "a restart forgets what the throttle has let through",
    property: "throttle",
    changeCore: (core) => {
      const throttled = Reflect.construct(core.throttled.constructor, [core, false]);
      Object.assign(core, { throttled });
    },
  },
  {
    name: "an endpoint that asks for authorization gets none",
    property: "one live lease",
    wrapEndpoint: alterOutcome((outcome) =>
      outcome.kind === "answered" ? { ...outcome, challenge: null } : outcome,
    ),
  },
  {
    name: "credentials are shown to whoever is called",
    property: "authorization",
    wrapEndpoint: (port) => ({
      ...port,
      post: (request) => {
        const authorization = `Basic ${btoa(`${CREDENTIALS.username}:${CREDENTIALS.password}`)}`;
        return port.post({ ...request, headers: { authorization, ...request.headers } });
      },
    }),
  },
  {
    name: "every challenge gets the answer to the first one",
    property: "authorization",
    wrapEndpoint: (port) => {
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
    },
  },
  {
    name: "a request whose time is over never ends",
    property: "liveness",
    wrapEndpoint: (port) => ({
      ...port,
      post: async (request) => {
        const outcome = await port.post(request);
        return outcome.kind === "timedOut" ? new Promise(() => {}) : outcome;
      },
    }),
  },
];

function alterOutcome(
  change: (outcome: EndpointOutcome) => EndpointOutcome,
): (port: EndpointPort) => EndpointPort {
  return (port) => ({ ...port, post: async (request) => change(await port.post(request)) });
}

function withoutErrorTimeout(ports: QueuePorts, queue: string): EndpointCaller | null {
  const caller = ports.daemonOf?.(queue) ?? null;
  const daemon = caller?.settings.daemon;
  if (caller === null || daemon === undefined) return caller;
  // Its methods reach for private fields, so they are called on the caller itself.
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
