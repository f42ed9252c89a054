// @module-tag slow
import fc from "fast-check";
import { beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { localTarget } from "../local-target.ts";
import { SHAPES } from "./index.ts";
import type { Open, ShapeReport } from "./shape.ts";

/** A failure prints it; set it to go through the same cases again, or through others. */
const SEED = Number(process.env.SLUICE_FUZZ_SEED ?? 1);

beforeEach(() => {
  // Brokers log what is purged, deleted and given up.
  for (const level of ["log", "warn", "error"] as const)
    vi.spyOn(console, level).mockImplementation(() => {});
  onTestFinished(() => void vi.restoreAllMocks());
});

const run = (name: string, requests: number, open: Open = localTarget) =>
  SHAPES.get(name)?.run(open, { seed: SEED, requests }) as Promise<ShapeReport>;

it.each([
  ["bodies", 250],
  ["filters", 15],
  ["imports", 8],
  ["nesting", 60],
])(
  "every request of the shape %s is answered, and the broker goes on",
  { timeout: 180_000 },
  async (name, requests) => {
    const { statuses } = await run(name, requests);
    expect(Object.keys(statuses)).toEqual(expect.arrayContaining(["200", "400"]));
  },
);

type Fetch = (request: Request) => Promise<Response>;
/** A mistake in the place of a broker's answer. */
type Plant = (fetch: Fetch) => Fetch;

function openWith(plant: Plant): Open {
  return async (vars) => {
    const target = await localTarget(vars);
    return { ...target, fetch: plant(target.fetch) };
  };
}

const isFor = (request: Request, path: string) => new URL(request.url).pathname.includes(path);
const broken = () => new Response('{"error":{"code":"internal_error","message":"x"}}', { status: 500 });
const textOf = (request: Request) => request.clone().text();
/** Answers wrongly from the first request on that is like that. */
const after =
  (
    isCause: (text: string, request: Request) => boolean,
    isEffect: (text: string, request: Request) => boolean,
  ): Plant =>
  (fetch) => {
    let hasCome = false;
    return async (request) => {
      const text = await textOf(request);
      hasCome ||= isCause(text, request);
      return hasCome && isEffect(text, request) ? broken() : fetch(request);
    };
  };

const MISTAKES: readonly (readonly [shape: string, mistake: string, requests: number, plant: Plant])[] = [
  [
    ...(["bodies", "a body is read before it is known who sends it", 100] as const),
    (fetch) => async (request) => {
      const { url, method, headers } = request;
      const body = await request.arrayBuffer();
      return fetch(new Request(url, { method, headers, ...(method === "GET" ? {} : { body }) }));
    },
  ],
  [
    ...(["bodies", "a stranger is let in", 400] as const),
    (fetch) => async (request) => (isFor(request, "/api/tokens") ? Response.json({}) : fetch(request)),
  ],
  [
    ...(["filters", "a policy makes each publish fail", 50] as const),
    after(
      (text) => text.includes("Action=Subscribe") && text.includes("FilterPolicy"),
      (text) => text.includes("Action=Publish"),
    ),
  ],
  [
    ...(["filters", "a policy keeps a message from others", 50] as const),
    (fetch) => async (request) => {
      if (!(await textOf(request)).includes("Action=Publish&")) return fetch(request);
      const headers = { "content-type": "text/xml", "x-amzn-requestid": "1" };
      return new Response("<PublishResponse/>", { headers });
    },
  ],
  [
    ...(["imports", "a line makes a list fail", 3] as const),
    after(
      (text, request) => isFor(request, "/backup/queues") && !text.includes('"orders"'),
      (_, request) => isFor(request, "/api/queues"),
    ),
  ],
  [
    ...(["nesting", "a stack is full", 100] as const),
    after(
      () => true,
      (text) => text.includes("[".repeat(60_000)),
    ),
  ],
  [
    ...(["nesting", "a refusal is in no API's words", 100] as const),
    (fetch) => async (request) => {
      const answer = await fetch(request);
      return answer.status === 400 ? new Response("Bad Request", { status: 400 }) : answer;
    },
  ],
];

it.each(MISTAKES)("the shape %s finds that %s", async (shape, _, requests, plant) => {
  // The search for the smallest case would start a broker for each.
  fc.configureGlobal({ endOnFailure: true });
  onTestFinished(() => fc.resetConfigureGlobal());
  await expect(run(shape, requests, openWith(plant))).rejects.toThrow(/seed: \d+/);
});

it("the shape imports finds what fails only once the broker is opened again", async () => {
  fc.configureGlobal({ endOnFailure: true });
  onTestFinished(() => fc.resetConfigureGlobal());
  const open: Open = async (vars) => {
    const target = await localTarget(vars);
    let isOpenedAgain = false;
    const fetch: Fetch = async (request) =>
      isOpenedAgain && isFor(request, "/api/topics") ? broken() : target.fetch(request);
    const reopen = () => {
      isOpenedAgain = true;
      target.reopen();
    };
    return { ...target, fetch, reopen };
  };
  await expect(run("imports", 1, open)).rejects.toThrow(/seed: \d+/);
});
