import { type AnyQueue, bindingName, PATIENCE_MS, queueName } from "../src/scenario/scenario.ts";
import { SCENARIOS } from "../src/scenarios/index.ts";

/** Queues, and services by the names of the Workers. */
type Env = Readonly<Record<string, AnyQueue>>;

const RECEIVERS = ["RECEIVER", "RECEIVER_NO_WAIT", "RECEIVER_CLASS"];

/** Runs `send` of a scenario, or its `afterRestart`. */
async function run(action: "run" | "look", id: string, request: Request, env: Env): Promise<Response> {
  const scenario = SCENARIOS.find((candidate) => candidate.id === id);
  if (scenario === undefined) return new Response("no such scenario", { status: 404 });
  if (scenario.sender === "old-sender" && env.OLD_SENDER !== undefined) return env.OLD_SENDER.fetch(request);
  const queues = Object.entries(scenario.queues).map(([key, spec]) => {
    const queue = env[bindingName(queueName(scenario, key, spec))];
    if (queue === undefined) throw new Error(`${id} has no queue ${key}`);
    return [key, queue];
  });
  const bound = Object.fromEntries(queues);
  const sent = action === "run" ? scenario.send(bound, env) : scenario.afterRestart?.(bound);
  const late = scheduler.wait(PATIENCE_MS).then(() => "send had no answer");
  // An error is an observation too.
  const answer = await Promise.race([sent, late]).catch(String);
  return Response.json(answer ?? null);
}

/** Collects the batches that all consumer Workers have seen. */
async function seen(env: Env): Promise<Response> {
  const all = RECEIVERS.map(async (name) => (await env[name].fetch("http://receiver/")).json());
  return Response.json((await Promise.all(all)).flat());
}

/** Worker with `GET /run/ID` for `send`, `GET /look/ID` for `afterRestart`, and `GET /seen` for all batches. */
export default {
  async fetch(request, env) {
    const { pathname } = new URL(request.url);
    const [, action, id = ""] = pathname.split("/");
    if (action === "run" || action === "look") return run(action, id, request, env);
    return action === "seen" ? seen(env) : new Response("ready");
  },
} satisfies ExportedHandler<Env>;
