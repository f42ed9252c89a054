import { CALL_LOST_MS, CALLS_UNDER_WAY_MAX, COALESCE_MS_MAX } from "@sluice/coalesce";
import { bundle, startWorkerd, type WorkerdProcess } from "@sluice/protocol/test/workerd-process";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

let workerd: WorkerdProcess;

async function start(shares: boolean, compatibilityFlags: readonly string[] = []): Promise<WorkerdProcess> {
  const source = await bundle(
    'export { default, Entrypoint, Sender, SlowBroker } from "./share-calls.worker.ts";',
    `${import.meta.dirname}/../test`,
  );
  return startWorkerd([
    {
      name: "main",
      source,
      compatibilityFlags: ["service_binding_extra_handlers", ...compatibilityFlags],
      durableObjects: ["SlowBroker", "Sender"],
      bindings: `
        (name = "QUEUE", text = "replaced when the module loads"),
        (name = "BROKERS", durableObjectNamespace = "SlowBroker"),
        (name = "SENDERS", durableObjectNamespace = "Sender"),
        (name = "MAIN", service = "main"),
        (name = "SELF", service = (name = "main", entrypoint = "Entrypoint")),
        (name = "SHARES", text = "${shares ? "yes" : "no"}")`,
    },
  ]);
}

/** One request of its own: its status and what it says. */
async function step(name: string, body: string | number = "", signal: AbortSignal | null = null) {
  const response = await workerd.fetch(`/${name}/${body}`, { signal });
  return { status: response.status, text: await response.text() };
}

const SENT = { status: 200, text: "null" };
const begun = (sends: number) => expect.poll(async () => (await step("begun")).text).toBe(`${sends}`);
const calls = async () => JSON.parse((await step("calls")).text) as string[][];
const arrived = (body: string) => expect.poll(async () => (await calls()).flat()).toContain(body);
const everythingSent = async () => (await calls()).flat().sort();

/** As many calls as there may be, each begun when the one before had arrived. */
async function callsUnderWay(): Promise<Promise<unknown>[]> {
  const sends: Promise<unknown>[] = [];
  for (let i = 0; i < CALLS_UNDER_WAY_MAX; i++) {
    sends.push(step("send", i));
    await arrived(`${i}`);
  }
  return sends;
}

describe("requests that send at the same time", () => {
  beforeEach(async () => {
    workerd = await start(true);
  });
  afterEach(() => workerd[Symbol.asyncDispose]());

  it("requests that send at the same time share calls to the broker, each message once", async () => {
    const bodies = Array.from({ length: 40 }, (_, i) => `m${i}`);
    const sends = bodies.map((body) => step("send", body));
    await begun(40);
    await step("open");
    for (const sent of await Promise.all(sends)) expect(sent).toEqual(SENT);
    expect(await everythingSent()).toEqual([...bodies].sort());
    // Those under way while the broker did not answer, and few for all that waited.
    expect((await calls()).length).toBeLessThanOrEqual(2 * CALLS_UNDER_WAY_MAX);
  });

  it("may come from handlers and entrypoints of every kind, and from Durable Objects", async () => {
    const kinds = ["", "-from-schedule", "-from-consumer", "-from-entrypoint", "-from-object"];
    const bodies = kinds.flatMap((kind) => [1, 2, 3].map((n) => `n${kind}${n}`));
    const sends = kinds.flatMap((kind) => [1, 2, 3].map((n) => step(`send${kind}`, `n${kind}${n}`)));
    await begun(bodies.length);
    await step("open");
    for (const { status } of await Promise.all(sends)) expect(status).toBe(200);
    expect(await everythingSent()).toEqual(bodies.sort());
    expect((await calls()).length).toBeLessThan(bodies.length);
  });

  it("requests that send at the same time each keep their order of sends that they wait for", async () => {
    await step("open");
    await Promise.all(Array.from({ length: 20 }, (_, i) => step("send-twice", `r${i}-`)));
    const sent = (await calls()).flat();
    expect(sent).toHaveLength(40);
    for (let i = 0; i < 20; i++) expect(sent.indexOf(`r${i}-1`)).toBeLessThan(sent.indexOf(`r${i}-2`));
  });

  it("requests that send at the same time are answered though the client has hung up whose request makes the call", async () => {
    const early = await callsUnderWay();
    const client = new AbortController();
    const hungUp = step("send", "gone", client.signal).catch((error: Error) => error.name);
    await begun(CALLS_UNDER_WAY_MAX + 1);
    const along = ["a", "b"].map((body) => step("send", body));
    await begun(CALLS_UNDER_WAY_MAX + 3);
    await step("answer", "0");
    await arrived("gone");
    expect((await calls()).at(-1)?.toSorted()).toEqual(["a", "b", "gone"]);
    client.abort();
    expect(await hungUp).toBe("AbortError");
    await step("open");
    for (const sent of await Promise.all([...early, ...along])) expect(sent).toEqual(SENT);
    expect(await everythingSent()).toEqual(["0", "1", "2", "3", "a", "b", "gone"]);
  });

  it("requests that send at the same time need not wait for their sends", async () => {
    const bodies = Array.from({ length: 20 }, (_, i) => `f${i}`);
    for (const sent of await Promise.all(bodies.map((body) => step("send-and-forget", body)))) {
      expect(sent).toEqual(SENT);
    }
    await step("open");
    await expect.poll(everythingSent).toEqual(bodies.sort());
    await step("send", "last");
    expect((await calls()).length).toBeLessThan(20);
    expect(workerd.lines.filter((line) => line.includes("different request context"))).toEqual([]);
  });

  it("requests that send at the same time are answered in an object that lets nothing in from outside", async () => {
    const first = step("send", "first");
    await arrived("first");
    const blocked = ["a", "b"].map((body) => step("send-from-blocked-object", body));
    await begun(3);
    await step("open");
    for (const sent of await Promise.all([first, ...blocked])) expect(sent.status).toBe(200);
    expect(await everythingSent()).toEqual(["a", "b", "first"]);
  });

  it("requests that send at the same time fail with 15000 once the call is lost that carried them", async () => {
    const early = await callsUnderWay();
    // A send looks by itself whether it may make a call, from time to time. Here the object has to make it, which the end
    // of the call before wakes first.
    await step("stop-clock");
    await step("hurry", COALESCE_MS_MAX);
    const reset = step("send-from-object", "object");
    await begun(CALLS_UNDER_WAY_MAX + 1);
    const along = step("send", "along");
    await begun(CALLS_UNDER_WAY_MAX + 2);
    await step("answer", "0");
    await arrived("along");
    expect((await calls()).at(-1)).toEqual(["object", "along"]);
    await step("reset", "object");
    expect((await reset).status).toBe(500);
    await step("start-clock");
    await step("hurry", CALL_LOST_MS);
    expect(await along).toEqual({ status: 500, text: "Error: Unknown Internal Error (15000)" });
    await step("open");
    for (const sent of await Promise.all([...early, step("send", "next")])) expect(sent).toEqual(SENT);
    // What was lost on its way back was stored, and nothing is sent again.
    expect(await everythingSent()).toEqual(["0", "1", "2", "3", "along", "next", "object"]);
  });
});

it("share nothing where the flag is off, and wait for no other request", async () => {
  await using started = await start(false, ["no_handle_cross_request_promise_resolution"]);
  workerd = started;
  const bodies = Array.from({ length: 10 }, (_, i) => `m${i}`);
  const sends = bodies.map((body) => step("send", body));
  await expect.poll(async () => (await calls()).length).toBe(10);
  await step("open");
  for (const sent of await Promise.all(sends)) expect(sent).toEqual(SENT);
  expect(await everythingSent()).toEqual(bodies);
});
