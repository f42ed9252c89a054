import { env } from "cloudflare:workers";
import type { BrokerEnv, Instruments } from "@sluice/broker";
import { type BrokerWorkerOptions, defineBroker as defineUsualBroker } from "@sluice/broker-worker";
import {
  DELIVERY_BEGINNING,
  fromBase64,
  type LogRequest,
  type MetricsRequest,
  type PlanRequest,
  type PostRequest,
  QUIET_VARIABLE,
  READ_VARIABLE,
  type RunRequest,
  SHOWN_BEGINNING,
  type ShowRequest,
  TEST_PATH,
} from "../wire.ts";
import { FaultyConsumers } from "./faulty-consumers.ts";
import { Recorder } from "./recorder.ts";
import { brokerTime, queueObject, runClock } from "./run-clock.ts";

/** Prints a line for the test kit. */
const tell: (line: string) => void = READ_VARIABLE in env ? console.log.bind(console) : () => {};
if (QUIET_VARIABLE in env) console.log = () => {};

/**
 * Makes the broker of a test: the deployed one with a record of all events, the faults of a history, and a clock that
 * moves from due time to due time.
 */
export function defineBroker({
  page: _,
  ...options
}: BrokerWorkerOptions): ReturnType<typeof defineUsualBroker> {
  const recorder = new Recorder();
  const queues = Object.keys(options.topology.queues);
  const consumers = new FaultyConsumers(options.topology, recorder, (line) => {
    tell(`${DELIVERY_BEGINNING}${JSON.stringify(line)}`);
  });
  const instruments: Instruments = {
    ports: (queue, ports) => {
      recorder.opened(queue);
      const consumer = () => {
        const port = ports.consumer();
        return port === null ? null : consumers.wrap(queue, port);
      };
      return { ...ports, observer: recorder, consumer };
    },
  };
  const broker = defineUsualBroker({ ...options, instruments });
  const control = async (path: string, request: Request, env: BrokerEnv): Promise<unknown> => {
    const asked = await request.json();
    switch (path) {
      case "run":
        return {
          ...(await runClock(brokerTime(env, options.topology), asked as RunRequest, recorder)),
          queues,
        };
      case "post": {
        const { queue, requests, producer } = asked as PostRequest;
        const packed = requests.map(({ packed: text, ...rest }) => ({ ...rest, packed: fromBase64(text) }));
        return { reply: await queueObject(env, queue).post(queue, packed, producer) };
      }
      case "metrics": {
        const { queue } = asked as MetricsRequest;
        return queueObject(env, queue).metrics(queue);
      }
      case "log":
        return { ...(await logBehind(recorder, asked as LogRequest)), queues };
      case "show":
        tell(`${SHOWN_BEGINNING}${(asked as ShowRequest).isShown}`);
        return {};
      case "plan":
        recorder.clear();
        consumers.plan((asked as PlanRequest).faults);
        return { last: recorder.last };
      default:
        throw new Error(`there is no ${TEST_PATH}/${path}`);
    }
  };
  const { handler } = broker;
  return {
    ...broker,
    handler: {
      fetch: async (request, env, ctx) => {
        const { pathname } = new URL(request.url);
        if (!pathname.startsWith(`${TEST_PATH}/`)) {
          return handler.fetch?.(request, env, ctx) ?? new Response(null, { status: 404 });
        }
        try {
          return Response.json(await control(pathname.slice(TEST_PATH.length + 1), request, env));
        } catch (error) {
          return Response.json({ error: { message: String(error) } }, { status: 500 });
        }
      },
    },
  };
}

async function logBehind(recorder: Recorder, { after, waitMs }: LogRequest) {
  if (waitMs > 0 && recorder.last <= after) {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, waitMs);
    const stop = recorder.listen(resolve);
    await promise;
    stop();
    clearTimeout(timer);
  }
  return { entries: recorder.after(after) };
}
