import { describe, expect, it } from "vitest";
import { type BodyLimits, boundedFetch, PLAIN_BYTES_MAX } from "./bounded-fetch.ts";

const AWS = "http://localhost/__sluice/aws";
const AWS_BYTES_MAX = 4_194_304;
const MESSAGES = "http://localhost/__sluice/client/v4/accounts/a/queues/b/messages";

/** Makes a gateway that records how many bytes of each request it saw, `null` for requests that did not reach it. */
function gateway(
  limits: BodyLimits = {},
  hold: Promise<void> = Promise.resolve(),
  asksForSignatures = false,
) {
  const answer = async (request: Request) => {
    const { byteLength } = await request.arrayBuffer();
    await hold;
    return Response.json(byteLength);
  };
  const fetch = boundedFetch({ fetch: answer, asksForSignatures }, limits);
  return async (init: RequestInit, url = AWS) => {
    const response = await fetch(new Request(url, { method: "POST", ...init }));
    const bytes = response.status === 200 ? await response.json() : null;
    return { status: response.status, bytes, headers: response.headers };
  };
}

/** Makes a body in pieces, which counts those that were read. */
function pieces(sizes: readonly number[], end: "closes" | "stays open" = "closes") {
  let read = 0;
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const size = sizes[read];
        if (size === undefined) return end === "closes" ? controller.close() : new Promise(() => {});
        read += 1;
        controller.enqueue(new Uint8Array(size));
      },
    },
    { highWaterMark: 0 },
  );
  return { init: { body, duplex: "half" } as RequestInit, readCount: () => read };
}

const whole = (size: number): RequestInit => ({
  body: new Uint8Array(size),
  headers: { "content-length": String(size) },
});

describe("the body of a request to a broker on workerd", () => {
  it.each([
    [AWS, AWS_BYTES_MAX],
    [MESSAGES, 4_000_000],
    ["http://localhost/__sluice/api/clock", 65_536],
  ])("to %s may have %i bytes, with or without a given length", async (url, max) => {
    const fetched = gateway();
    for (const size of [max - 1, max, max + 1]) {
      const expected = size > max ? { status: 413, bytes: null } : { status: 200, bytes: size };
      expect(await fetched(whole(size), url)).toMatchObject(expected);
      expect(await fetched(pieces([1, size - 1]).init, url)).toMatchObject(expected);
    }
  });

  it("is not read further once it is too large, and passes in pieces unchanged", async () => {
    const fetched = gateway();
    const endless = pieces([AWS_BYTES_MAX, 1, 1, 1, 1]);
    expect(await fetched(endless.init)).toMatchObject({ status: 413 });
    expect(endless.readCount()).toBe(2);
    expect(await fetched(pieces([3, 4, 5]).init)).toMatchObject({ status: 200, bytes: 12 });
    expect(await fetched({ method: "GET" })).toMatchObject({ status: 200, bytes: 0 });
  });

  it("is read up to 64 KiB without a signature where AWS's clients have to sign", async () => {
    const fetched = gateway({}, Promise.resolve(), true);
    expect(await fetched(pieces([65_536]).init)).toMatchObject({ status: 200, bytes: 65_536 });
    const endless = pieces([65_536, 1, 1], "stays open");
    expect(await fetched(endless.init)).toMatchObject({ status: 413 });
    expect(endless.readCount()).toBe(2);
    const headers = { authorization: "AWS4-HMAC-SHA256 Credential=x" };
    expect(await fetched({ ...pieces([65_537]).init, headers })).toMatchObject({
      status: 200,
      bytes: 65_537,
    });
  });

  it("is refused with 503 while too much is being read, unless it is short", async () => {
    const answers = Promise.withResolvers<void>();
    const fetched = gateway({ unreadBytesMax: 200_000 }, answers.promise);
    const first = fetched(pieces([100_000]).init);
    const second = fetched(whole(100_000));
    const third = await fetched(pieces([1]).init);
    expect([third.status, third.headers.get("retry-after")]).toEqual([503, "1"]);
    const short = fetched(whole(PLAIN_BYTES_MAX));
    answers.resolve();
    for (const answer of [first, second, short]) expect(await answer).toMatchObject({ status: 200 });
    expect(await fetched(pieces([200_000]).init)).toMatchObject({ status: 200 });
    expect(await fetched(pieces([200_001]).init)).toMatchObject({ status: 503 });
  });

  it("is read to its end if it is short, even where the answer needs none of it", async () => {
    const refuse = async () => new Response("no", { status: 403 });
    const fetch = boundedFetch({ fetch: refuse, asksForSignatures: false }, { bodyMsMax: 20 });
    const refused = async ({ init, readCount }: ReturnType<typeof pieces>) => {
      const headers = { "content-length": "3" };
      const response = await fetch(new Request(AWS, { method: "POST", ...init, headers }));
      return [response.status, readCount()];
    };
    expect(await refused(pieces([1, 1, 1]))).toEqual([403, 3]);
    // One that does not come is given up after the time limit.
    expect(await refused(pieces([1, 1], "stays open"))).toEqual([403, 2]);
  });

  it("is given up after the time limit", async () => {
    const fetched = gateway({ bodyMsMax: 20 });
    expect(await fetched(pieces([1], "stays open").init)).toMatchObject({ status: 408 });
  });
});
