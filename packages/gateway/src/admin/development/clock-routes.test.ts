import { CLOCK_ADVANCE_MS_MAX } from "@sluice/protocol";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { directoryOf, OPEN } from "../../../test/directory.ts";
import { memoryClock } from "../../../test/in-memory.ts";
import { type ComingMoment, createGateway } from "../../index.ts";

const CLOCK = "http://localhost:8787/__sluice/api/clock";
const START = Date.parse("2026-01-01T00:00:00.000Z");

beforeEach(() => {
  vi.useFakeTimers({ now: START, toFake: ["Date"] });
});

afterEach(() => {
  vi.useRealTimers();
});

/** A gateway whose clock is kept in memory. */
function gatewayWith(coming: readonly ComingMoment[] = []) {
  const advances: number[] = [];
  const gateway = createGateway({ ...directoryOf(), clock: memoryClock(advances, coming) }, OPEN);
  const answer = async (request: Promise<Response>) => {
    const response = await request;
    return { status: response.status, body: await response.json() };
  };
  return {
    advances,
    read: () => answer(gateway.request(CLOCK)),
    change: (body: string) => answer(gateway.request(CLOCK, { method: "POST", body })),
  };
}

it("GET /clock tells the time of the queues, and how far it is from real time", async () => {
  const { read, change } = gatewayWith();
  const real = { now: "2026-01-01T00:00:00.000Z", aheadMs: 0, isFrozen: false };
  expect(await read()).toEqual({ status: 200, body: real });
  await change('{"advanceMs": 60000}');
  expect((await read()).body).toEqual({ ...real, now: "2026-01-01T00:01:00.000Z", aheadMs: 60_000 });
});

describe("POST /clock", () => {
  it.each([0, 1, CLOCK_ADVANCE_MS_MAX - 1, CLOCK_ADVANCE_MS_MAX])(
    "moves every queue's time by %i ms",
    async (ms) => {
      const { change, advances } = gatewayWith();
      expect(await change(JSON.stringify({ advanceMs: ms }))).toEqual({
        status: 200,
        body: { now: new Date(START + ms).toISOString(), aheadMs: ms, isFrozen: false, advancedMs: ms },
      });
      expect(advances).toEqual([ms]);
    },
  );

  it("stops it, and lets it go on", async () => {
    const { change, read } = gatewayWith();
    const frozen = { now: "2026-01-01T00:00:00.000Z", aheadMs: 0, isFrozen: true };
    expect(await change('{"freeze": true}')).toEqual({ status: 200, body: frozen });
    vi.setSystemTime(START + 5_000);
    expect((await read()).body).toEqual({ ...frozen, aheadMs: -5_000 });
    expect((await change('{"freeze": false}')).body).toEqual({
      now: "2026-01-01T00:00:05.000Z",
      aheadMs: 0,
      isFrozen: false,
    });
  });

  it("jumps to what comes first, in all queues or in one", async () => {
    const coming = [
      { queue: "dead", atMs: null, isBusy: false },
      { queue: "orders", atMs: START + 3_000.4, isBusy: false },
    ];
    const { change, advances } = gatewayWith(coming);
    expect((await change('{"to": "next"}')).body).toEqual({
      now: "2026-01-01T00:00:03.001Z",
      aheadMs: 3_001,
      isFrozen: false,
      advancedMs: 3_001,
      next: { queue: "orders", at: "2026-01-01T00:00:03.000Z" },
    });
    expect((await change('{"to": "next", "queue": "dead"}')).body).toMatchObject({
      advancedMs: 0,
      next: null,
    });
    // What has been due for long is due now.
    expect((await change('{"to": "next", "queue": "orders"}')).body).toMatchObject({ advancedMs: 0 });
    expect(advances).toEqual([3_001, 0]);
    expect(await change('{"to": "next", "queue": "nothing"}')).toMatchObject({
      status: 404,
      body: { error: { code: "queue_not_found" } },
    });
  });

  it.each([
    [-1, 409],
    [0, 409],
    [1, 200],
  ])(
    "jumps to what comes %i ms before a retention ends only when asked to, in whichever queue",
    async (ms, status) => {
      const { change, advances } = gatewayWith([
        { queue: "dead", atMs: START + 9_000, isBusy: false, expiresAtMs: START + 3_000 + ms },
        { queue: "orders", atMs: START + 3_000, isBusy: false },
      ]);
      const refused = await change('{"to": "next", "queue": "orders"}');
      expect(refused.status).toBe(status);
      if (status === 409) {
        expect(refused.body).toMatchObject({
          error: {
            code: "would_expire",
            message: expect.stringMatching(/the first of queue "dead" expires at 2026.*clock next --expire/),
          },
        });
      }
      expect(advances.length).toBe(status === 409 ? 0 : 1);
      expect((await change('{"to": "next", "queue": "orders", "expire": true}')).status).toBe(200);
    },
  );

  it("does not jump over the end of what is under way", async () => {
    const { change, advances } = gatewayWith([{ queue: "orders", atMs: START + 900_000, isBusy: true }]);
    expect(await change('{"to": "next"}')).toEqual({
      status: 409,
      body: {
        error: {
          code: "busy",
          message: "Something is under way, and the clock cannot jump over its end: orders.",
        },
      },
    });
    expect(advances).toEqual([]);
  });

  it.each([
    '{"advanceMs": -1}',
    `{"advanceMs": ${CLOCK_ADVANCE_MS_MAX + 1}}`,
    '{"advanceMs": 0.5}',
    '{"advanceMs": "1000"}',
    '{"advanceMs": null}',
    '{"advanceMs": 1, "freeze": true}',
    '{"to": "tomorrow"}',
    '{"freeze": 1}',
    "{}",
    "[]",
    "null",
    "1000",
    "{",
    "",
  ])("answers 400 to %s", async (body) => {
    const { change, advances } = gatewayWith();
    expect(await change(body)).toEqual({
      status: 400,
      body: {
        error: {
          code: "invalid_body",
          message:
            'The body must be {"advanceMs": N} with N from 0 to 2678400000, {"to": "next"}, ' +
            '{"to": "next", "queue": "NAME", "expire": true}, {"freeze": true} or {"freeze": false}.',
        },
      },
    });
    expect(advances).toEqual([]);
  });

  it.each(["GET", "POST"])("answers 403 to %s where time is real", async (method) => {
    const gateway = createGateway({ ...directoryOf(), clock: null }, OPEN);
    const response = await gateway.request(CLOCK, { method });
    expect(response.status).toBe(403);
    expect(await response.json()).toEqual({
      error: { code: "not_in_production", message: "The clock moves in development only." },
    });
  });
});
