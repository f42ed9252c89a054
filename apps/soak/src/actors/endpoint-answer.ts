import type { Answer } from "../ledger/endpoint-verdict.ts";
import type { Reply } from "../scenario/endpoint-scenario.ts";
import type { FaultKind } from "../world/faults.ts";
import type { World } from "../world/world.ts";

/** Conduct of an endpoint with one request. */
export type Conduct =
  | { readonly kind: "answer"; readonly answer: Answer }
  | { readonly kind: "hang" | "late" | "drop" | "die" };

const PLAIN = { retryAfter: null, wait: null };
export const OK = { kind: "answer", answer: { status: 200, ...PLAIN } } as const satisfies Conduct;

/** With the reply `poison`, one message in so many ends the endpoint's process. */
const POISON_EVERY = 2;

const FAULTS: Readonly<Partial<Record<Reply, FaultKind>>> = {
  busy: "endpoint answered that it is busy",
  redirect: "endpoint answered no 2xx",
  clientError: "endpoint answered no 2xx",
  serverError: "endpoint answered no 2xx",
  hang: "endpoint hung",
  late: "endpoint answered late",
  drop: "endpoint hung up",
};

export function drawConduct(world: World, reply: Reply, tag: number): Conduct {
  const { random, faults } = world;
  const fault = FAULTS[reply];
  if (fault !== undefined) faults[fault] += 1;
  switch (reply) {
    case "ok":
      return OK;
    case "created":
      return { kind: "answer", answer: { status: random.pick([201, 202, 204]), ...PLAIN } };
    case "busy":
      return { kind: "answer", answer: { status: random.pick([429, 503]), ...drawWait(world) } };
    case "redirect":
      return { kind: "answer", answer: { status: random.pick([301, 302]), ...PLAIN } };
    case "clientError":
      return { kind: "answer", answer: { status: random.pick([400, 404, 410]), ...PLAIN } };
    case "serverError":
      return { kind: "answer", answer: { status: random.pick([500, 502, 504]), ...PLAIN } };
    case "poison":
      if (tag % POISON_EVERY !== 0) return OK;
      faults["endpoint died of a message"] += 1;
      return { kind: "die" };
    default:
      return { kind: reply };
  }
}

function drawWait({ random, nowMs }: World): Pick<Answer, "retryAfter" | "wait"> {
  const seconds = random.pick([0, 1, 30, 600]);
  switch (random.below(4)) {
    case 0:
      return PLAIN;
    case 1:
      return { retryAfter: "soon", wait: null };
    case 2: {
      const atMs = 1_000 * Math.floor(nowMs / 1_000 + seconds);
      return { retryAfter: new Date(atMs).toUTCString(), wait: { kind: "until", ms: atMs } };
    }
    default:
      return { retryAfter: `${seconds}`, wait: { kind: "delay", ms: 1_000 * seconds } };
  }
}
