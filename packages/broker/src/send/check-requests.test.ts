import {
  type ContentType,
  DELAY_SECONDS_MAX,
  MESSAGE_BYTES_MAX,
  packMessages,
  type SendRequest,
  TRACE_BYTES_MAX,
} from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { packTexts } from "../../test/messages.ts";
import { checkRequests } from "./check-requests.ts";

function request(bodyBytes: number, delaySeconds?: number): SendRequest {
  const message = {
    id: "0".repeat(32),
    contentType: "bytes" as ContentType,
    body: new Uint8Array(bodyBytes),
    ...(delaySeconds === undefined ? {} : { delaySeconds }),
  };
  return { packed: packMessages([message]) };
}

/** Moves the first `bytes` of the body into the extension area: attributes of another dialect. */
function withAttributes({ packed }: SendRequest, bytes: number): SendRequest {
  const view = new DataView(packed.buffer, packed.byteOffset);
  view.setUint32(0, view.getUint32(0, true) - bytes, true);
  view.setUint32(12, bytes, true);
  return { packed };
}

describe("the size of a message", () => {
  it.each([
    [0, true],
    [MESSAGE_BYTES_MAX - 1, true],
    [MESSAGE_BYTES_MAX, true],
    [MESSAGE_BYTES_MAX + 1, false],
  ])("a message may have %i bytes: %s", (bytes, ok) => {
    const refusal = {
      ok: false,
      code: 10204,
      cause: `message length of ${bytes} bytes exceeds limit of 128000`,
    };
    expect(checkRequests([request(bytes)], 0)).toMatchObject(ok ? { ok } : refusal);
  });

  it.each([
    [MESSAGE_BYTES_MAX, true],
    [MESSAGE_BYTES_MAX + 1, false],
  ])("includes its attributes: %i bytes may be sent: %s", (bytes, ok) => {
    const acceptable = checkRequests([withAttributes(request(bytes), 65_535)], 0);
    expect(acceptable).toMatchObject(ok ? { ok } : { ok, code: 10204 });
  });
});

describe("the trace context of a message", () => {
  const traced = (bodyBytes: number, traceBytes: number): SendRequest => ({
    packed: packMessages([
      {
        id: "0".repeat(32),
        contentType: "bytes",
        body: new Uint8Array(bodyBytes),
        extension: { trace: new Uint8Array(traceBytes) },
      },
    ]),
  });

  it("is no part of its size", () => {
    expect(checkRequests([traced(MESSAGE_BYTES_MAX, 25)], 0).ok).toBe(true);
    expect(checkRequests([traced(MESSAGE_BYTES_MAX + 1, 25)], 0)).toMatchObject({
      ok: false,
      cause: "message length of 128001 bytes exceeds limit of 128000",
    });
  });

  it.each([
    [TRACE_BYTES_MAX - 1, true],
    [TRACE_BYTES_MAX, true],
    [TRACE_BYTES_MAX + 1, false],
  ])("may have %i bytes: %s", (bytes, ok) => {
    const refusal = { ok, code: 10203, cause: "the trace context of a message is too long" };
    expect(checkRequests([traced(1, bytes)], 0)).toMatchObject(ok ? { ok } : refusal);
  });
});

it.each([
  [-1, false],
  [0, true],
  [1, true],
  [DELAY_SECONDS_MAX - 1, true],
  [DELAY_SECONDS_MAX, true],
  [DELAY_SECONDS_MAX + 1, false],
])("the delay of a message may be %i s: %s", (seconds, ok) => {
  const refusal = {
    ok: false,
    code: 10203,
    cause: `message delay of ${seconds} seconds is not within 0 to 86400`,
  };
  expect(checkRequests([request(1, seconds)], 0)).toMatchObject(ok ? { ok } : refusal);
});

describe("the delay of a batch", () => {
  it.each([
    [-1, false],
    [0, true],
    [DELAY_SECONDS_MAX - 1, true],
    [DELAY_SECONDS_MAX, true],
    [DELAY_SECONDS_MAX + 1, false],
    [0.5, false],
    [NaN, false],
  ])("the delay of a batch may be %d s: %s", (delaySeconds, ok) => {
    const refusal = {
      ok: false,
      code: 10202,
      cause: `batch delay of ${delaySeconds} seconds is not within 0 to 86400`,
    };
    expect(checkRequests([{ ...request(1), delaySeconds }], 0)).toMatchObject(ok ? { ok } : refusal);
  });

  it("is the batch's own, or the queue's where it has none; an explicit 0 is its own", () => {
    const requests = [{ ...request(1), delaySeconds: 5 }, { ...request(1), delaySeconds: 0 }, request(1)];
    const acceptable = checkRequests(requests, 30);
    expect(acceptable.ok && acceptable.batches.map(({ delaySeconds }) => delaySeconds)).toEqual([5, 0, 30]);
  });
});

describe("a request", () => {
  it("needs a message", () => {
    expect(checkRequests([{ packed: new Uint8Array() }], 0)).toEqual({
      ok: false,
      code: 10206,
      cause: "a batch needs at least one message",
    });
  });

  it.each([1, 39, 41])("a request of %i bytes is no packed batch", (bytes) => {
    const refusal = checkRequests([{ packed: packTexts(["two bytes"]).slice(0, bytes) }], 0);
    expect(refusal).toMatchObject({ ok: false, code: 10203 });
    expect(refusal).toHaveProperty("cause", expect.stringMatching(/^not a packed batch: /));
  });

  it("refuses a content type that no consumer could read", () => {
    const unknown = request(1);
    unknown.packed[6] = 4;
    expect(checkRequests([unknown], 0)).toEqual({ ok: false, code: 10203, cause: "unknown content type" });
    for (const known of [0, 1, 2, 3]) {
      const good = request(1);
      good.packed[6] = known;
      expect(checkRequests([good], 0).ok).toBe(true);
    }
  });

  it("keeps others out with it: all or none", () => {
    expect(checkRequests([request(1), request(1, -1), request(1)], 0)).toMatchObject({
      ok: false,
      code: 10203,
    });
  });

  it("may hold several batches and more than 100 messages: those limits are the edge's", () => {
    const acceptable = checkRequests(
      [{ packed: packTexts(Array<string>(101).fill("x")) }, request(128_000)],
      0,
    );
    expect(acceptable.ok && acceptable.batches.map(({ index }) => index.count)).toEqual([101, 1]);
  });
});
