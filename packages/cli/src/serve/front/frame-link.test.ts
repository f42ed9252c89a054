import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { decodeFrontMessages, encodeAnswers, type FramedAnswer } from "@sluice/protocol";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { FrameLink, type FrameLinkOptions } from "./frame-link.ts";
import { FRAME_LENGTH_MAX, SocketCarrier } from "./socket-carrier.ts";

let server: WebSocketServer;
let link: FrameLink;
let broker: WebSocket;
/** Bodies of the requests in each frame that came. */
let frames: string[][];
let heard: (() => void)[];

const connectLink = async (options: Omit<FrameLinkOptions, "open"> = {}) => {
  const connected = once(server, "connection");
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const open: FrameLinkOptions["open"] = (events) =>
    new SocketCarrier({ url, token: "", warn: () => {} }, events);
  link = new FrameLink({ open, ...options });
  [broker] = (await connected) as [WebSocket];
  broker.on("message", (data) => {
    const messages = decodeFrontMessages(String(data));
    frames.push(
      messages.map((message) => (message.kind === "request" ? message.request.body : message.kind)),
    );
    for (const tell of heard.splice(0)) tell();
  });
  while (!link.isOpen) await new Promise((resolve) => setImmediate(resolve));
};
const untilFrames = async (count: number) => {
  while (frames.length < count) await new Promise<void>((resolve) => heard.push(resolve));
};
const submit = (body: string) => {
  const { promise, resolve } = Promise.withResolvers<string | null>();
  const id = link.submit({ method: "POST", url: "http://a/", headers: {}, body }, (answer) =>
    resolve(answer?.body ?? null),
  );
  return { id, answered: promise };
};
const answer = (...ids: number[]) =>
  broker.send(
    encodeAnswers(
      ids.map((id): FramedAnswer => ({ id, status: 200, headers: {}, body: `to ${id}`, isWatched: false })),
    ),
  );

/** The pace of clients that do nothing but wait for their answers. */
const quick = {
  arrived: () => {},
  sent: () => {},
  answered: () => {},
  putOffMs: 0,
  regatherMs: 60_000,
  companyWithin: () => 0,
};
/** Several turns of the event loop: what goes out at once has gone then. */
const turns = async () => {
  for (let i = 0; i < 10; i++) await new Promise((resolve) => setImmediate(resolve));
};

beforeEach(async () => {
  frames = [];
  heard = [];
  server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  await once(server, "listening");
});

afterEach(() => {
  link.close();
  server.close();
});

describe("requests", () => {
  it("of one moment go in one frame; what comes until it is answered goes in the next", async () => {
    await connectLink({ holdMsMax: 60_000 });
    const first = [submit("a"), submit("b")];
    await untilFrames(1);
    submit("c");
    await new Promise((resolve) => setImmediate(resolve));
    submit("d");
    answer(first[0]?.id ?? 0);
    expect(await first[0]?.answered).toBe(`to ${first[0]?.id}`);
    await untilFrames(2);
    expect(frames).toEqual([
      ["a", "b"],
      ["c", "d"],
    ]);
  });

  it("do not wait for the answers to a frame of one: it may be a long poll", async () => {
    await connectLink({ holdMsMax: 60_000 });
    submit("poll");
    await untilFrames(1);
    submit("a");
    await untilFrames(2);
    expect(frames).toEqual([["poll"], ["a"]]);
  });

  it("do not wait for long: others may be long polls too", async () => {
    await connectLink({ holdMsMax: 1 });
    submit("poll");
    submit("poll");
    await untilFrames(1);
    submit("a");
    await untilFrames(2);
    expect(frames).toEqual([["poll", "poll"], ["a"]]);
  });

  it("of clients that would not notice are put off, whatever is answered meanwhile", async () => {
    const came: number[] = [];
    const tookMs: number[] = [];
    const pace = {
      arrived: (_nowMs: number, underWay: number) => void came.push(underWay),
      answered: (ms: number) => void tookMs.push(ms),
      sent: () => {},
      companyWithin: () => 0,
      putOffMs: 60_000,
      regatherMs: 0,
    };
    await connectLink({ pace });
    const first = submit("a");
    await untilFrames(1);
    submit("b");
    answer(first.id);
    expect(await first.answered).toBe(`to ${first.id}`);
    const second = submit("c");
    expect(frames).toEqual([["a"]]);
    pace.putOffMs = 0;
    link.gone(second.id);
    answer(0);
    await untilFrames(2);
    expect(frames).toEqual([["a"], ["b", "c", "gone"]]);
    expect(came).toEqual([1, 2, 2]);
    expect(tookMs).toEqual([expect.toSatisfy((ms: number) => ms > 0 && ms < 60_000)]);
  });

  it("that come after as long a pause are not put off", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    onTestFinished(() => void vi.useRealTimers());
    await connectLink({ pace: { ...quick, putOffMs: 60_000, regatherMs: 0 } });
    submit("a");
    await untilFrames(1);
    vi.advanceTimersByTime(60_000);
    submit("b");
    await untilFrames(2);
    expect(frames).toEqual([["a"], ["b"]]);
  });

  it("wait for most of those to come again who were answered together, and for as many beside those who waited", async () => {
    await connectLink({ holdMsMax: 60_000, pace: quick });
    const first = ["a", "b", "c", "d"].map(submit);
    await untilFrames(1);
    submit("e");
    answer(...first.map(({ id }) => id));
    await Promise.all(first.map(({ answered }) => answered));
    submit("f");
    submit("g");
    await turns();
    expect(frames).toHaveLength(1);
    submit("h");
    await untilFrames(2);
    expect(frames).toEqual([
      ["a", "b", "c", "d"],
      ["e", "f", "g", "h"],
    ]);
  });

  it("do not wait for them for long", async () => {
    await connectLink({ pace: { ...quick, regatherMs: 1 } });
    const first = ["a", "b"].map(submit);
    await untilFrames(1);
    answer(...first.map(({ id }) => id));
    await Promise.all(first.map(({ answered }) => answered));
    submit("c");
    await untilFrames(2);
    expect(frames).toEqual([["a", "b"], ["c"]]);
  });

  it.each([
    ["after an answer to one", { pace: quick }, 1],
    ["where clients take their time", { pace: { ...quick, regatherMs: 0 } }, 2],
    ["where the broker is near", { pace: quick, regathers: false }, 2],
  ])("do not wait for others %s", async (_, options, count) => {
    await connectLink(options);
    const first = ["a", "b"].slice(0, count).map(submit);
    await untilFrames(1);
    answer(...first.map(({ id }) => id));
    await Promise.all(first.map(({ answered }) => answered));
    submit("c");
    await untilFrames(2);
    expect(frames[1]).toEqual(["c"]);
  });

  it("wait for a moment for those that are about to come, where that is told and until enough have", async () => {
    const asked: number[] = [];
    const companyWithin = (ms: number) => {
      asked.push(ms);
      return 2;
    };
    await connectLink({ gatherMsMax: 60_000, pace: { ...quick, companyWithin } });
    submit("a");
    await turns();
    expect(frames).toEqual([]);
    submit("b");
    await untilFrames(1);
    expect(frames).toEqual([["a", "b"]]);
    expect(asked).toEqual([60_000]);
  });

  it("do not wait longer than that moment, and not at all where too few would come", async () => {
    await connectLink({ gatherMsMax: 0.5, pace: { ...quick, companyWithin: () => 2 } });
    submit("a");
    await untilFrames(1);
    link.close();
    await connectLink({ gatherMsMax: 60_000, pace: quick });
    submit("b");
    await untilFrames(2);
    expect(frames).toEqual([["a"], ["b"]]);
  });

  it("that are large go in several frames", async () => {
    await connectLink();
    const large = "x".repeat(FRAME_LENGTH_MAX);
    for (const body of ["a", large.slice(1), "b", large, "c"]) submit(body);
    await untilFrames(3);
    expect(frames.map((frame) => frame.map((body) => body.length))).toEqual([
      [1, FRAME_LENGTH_MAX - 1],
      [1, FRAME_LENGTH_MAX],
      [1],
    ]);
  });
});

describe("a link", () => {
  it("that is lost answers nobody, and says so", async () => {
    await connectLink();
    const { answered } = submit("a");
    await untilFrames(1);
    broker.terminate();
    expect(await answered).toBeNull();
    expect(link.isOpen).toBe(false);
    await link.whenIdle();
  });

  it("is idle when everything is answered, or nobody waits for it", async () => {
    await connectLink();
    const [first, second] = [submit("a"), submit("b")];
    let isIdle = false;
    const idle = link.whenIdle().then(() => {
      isIdle = true;
    });
    answer(first.id);
    await first.answered;
    expect(isIdle).toBe(false);
    link.gone(second.id);
    await idle;
    await untilFrames(1);
  });
});
