import { EXIT_NO_BROKER, EXIT_USAGE } from "@sluice/project/errors";
import { afterEach, expect, it, vi } from "vitest";
import { BrokerClient, TOLD_AFTER_MS } from "./broker-client.ts";

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

const client = new BrokerClient({ url: "http://broker", token: null });
const calls: readonly (readonly [string, () => Promise<unknown>])[] = [
  ["the admin API", () => client.admin({ path: "/queues" })],
  ["the REST API", () => client.rest({ path: "" })],
  ["a stream", () => client.stream("/events")],
];

it.each(calls)(
  "says of a broker whose Workers are being started again that it is one: %s",
  async (_, call) => {
    const text = "The Workers are being started again. Try again in a moment.\n";
    vi.stubGlobal("fetch", async () => new Response(text, { status: 503 }));
    await expect(call()).rejects.toMatchObject({
      message:
        "The Workers of the broker at http://broker do not answer and are being started again. Try again in a moment.",
      exitCode: EXIT_NO_BROKER,
    });
  },
);

it.each(calls)("says of what else answers that it is no broker: %s", async (_, call) => {
  vi.stubGlobal("fetch", async () => new Response("<html>", { status: 503 }));
  await expect(call()).rejects.toMatchObject({
    message: "There is no broker of Sluice at http://broker: something else answers there, with status 503.",
    exitCode: EXIT_NO_BROKER,
  });
});

it("tells the user once that a broker is silent, and goes on waiting for it", async () => {
  vi.useFakeTimers();
  const asked: (() => void)[] = [];
  vi.stubGlobal("fetch", () => new Promise((resolve) => asked.push(() => resolve(Response.json({})))));
  const told: string[] = [];
  const patient = new BrokerClient({ url: "http://broker", token: null }, (text) => told.push(text));
  const ask = async (silentMs: number) => {
    const answered = patient.admin({ path: "/queues" });
    await vi.advanceTimersByTimeAsync(silentMs);
    asked.shift()?.();
    expect(await answered).toEqual({});
  };
  await ask(TOLD_AFTER_MS - 1);
  await vi.advanceTimersByTimeAsync(TOLD_AFTER_MS);
  expect(told).toEqual([]);
  await ask(TOLD_AFTER_MS);
  await ask(TOLD_AFTER_MS);
  expect(told).toEqual([
    "The broker at http://broker has not answered for 5 s. A Worker beside it may throw while it is loaded, or hang: " +
      "where the broker was started its output says which. This command goes on waiting.",
  ]);
});

it("only looks at a broker of another project that nobody named", async () => {
  const fetched = vi.fn(async () => Response.json({ result: [] }));
  vi.stubGlobal("fetch", fetched);
  const url = "http://broker";
  const its = new BrokerClient({ url, token: null, stranger: "sluice dev (process 1) of /code/shop" });
  const refused = {
    exitCode: EXIT_USAGE,
    message: expect.stringMatching(/process 1.*--url http:\/\/broker/),
  };
  for (const method of ["POST", "PUT", "PATCH", "DELETE"] as const) {
    await expect(its.admin({ method, path: "/queues/q/purge" }), method).rejects.toMatchObject(refused);
    await expect(its.rest({ method, path: "/q" }), method).rejects.toMatchObject(refused);
  }
  await expect(its.mcp({ method: "tools/call" }, {}, new AbortController().signal)).rejects.toMatchObject(
    refused,
  );
  expect(fetched).not.toHaveBeenCalled();
  await its.admin({ method: "POST", path: "/queues/q/redrive", body: { dryRun: true } });
  await its.admin({ path: "/queues" });
  expect(fetched).toHaveBeenCalledTimes(2);
});
