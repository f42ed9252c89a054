import type { FramedAnswer, FramedRequest } from "@sluice/protocol";
import { beforeEach, describe, expect, it } from "vitest";
import type { AwsAnswer, ReadAwsRequest } from "../aws-request.ts";
import { FrameServer } from "./frame-server.ts";

/** A request under way, for the test to answer. */
interface Asked {
  readonly request: ReadAwsRequest;
  answer(body: string, hasWaited?: boolean): void;
}

let asked: Asked[];
let frames: FramedAnswer[][];
let server: FrameServer;
/** Ends the waits for what is ready. */
let isReady: (() => void)[];
/** Lets everything happen that waits for nothing. */
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
const request = (id: number, body = `body ${id}`): FramedRequest => ({
  id,
  method: "POST",
  url: "http://localhost:8787/__sluice/aws/",
  headers: { "content-type": "application/x-amz-json-1.0", host: "localhost:8787" },
  body,
});
const bringRequests = (...ids: number[]) =>
  server.receive(ids.map((id) => ({ kind: "request", request: request(id) })));
const say = (kind: "gone" | "written", id: number) => server.receive([{ kind, id }]);

beforeEach(() => {
  asked = [];
  frames = [];
  isReady = [];
  server = new FrameServer({
    answer: (read) =>
      new Promise<AwsAnswer>((resolve) => {
        const answer = (body: string, hasWaited = false) =>
          resolve({ status: 200, headers: { "x-a": "b" }, body, hasWaited });
        asked.push({ request: read, answer });
      }),
    send: (answers) => void frames.push([...answers]),
    afterWhatIsReady: () => new Promise((resolve) => isReady.push(resolve)),
  });
});

describe("requests that come in frames", () => {
  it("are read as they were sent", async () => {
    bringRequests(7);
    const [{ request: read } = {} as Asked] = asked;
    expect(read.method).toBe("POST");
    expect(read.url.pathname).toBe("/__sluice/aws/");
    expect(read.page.url).toBe("http://localhost:8787/__sluice/aws/");
    expect(read.headers.get("content-type")).toBe("application/x-amz-json-1.0");
    expect(read.headers.get("constructor")).toBeNull();
    expect(await read.readText()).toBe("body 7");
    expect(read.body).toHaveLength(0);
    expect(await read.readBytes()).toEqual(new TextEncoder().encode("body 7"));
    expect(read.body).toHaveLength(6);
  });

  it("are answered in one frame when they are answered at one moment", async () => {
    bringRequests(1, 2, 3);
    asked[2]?.answer("third");
    asked[0]?.answer("first");
    await settle();
    asked[1]?.answer("second");
    await settle();
    const answer = { status: 200, headers: { "x-a": "b" }, isWatched: false };
    expect(frames).toEqual([
      [
        { id: 3, body: "third", ...answer },
        { id: 1, body: "first", ...answer },
      ],
      [{ id: 2, body: "second", ...answer }],
    ]);
    expect(isReady).toEqual([]);
    expect(server.size).toBe(0);
  });

  it.each([
    ["it is for one who has waited, and several came together", [[1], [2, 3]], true, [[1, 2]]],
    ["it is for one who has not waited", [[1], [2, 3]], false, [[1], [2]]],
    ["the latest came alone", [[1, 2], [3]], true, [[1], [2]]],
  ])(
    "are answered with what is ready with the first answer where %s: %j",
    async (_, came, hasWaited, sent) => {
      for (const ids of came) bringRequests(...ids);
      asked[0]?.answer("first", hasWaited);
      await settle();
      asked[1]?.answer("second");
      await settle();
      for (const tell of isReady) tell();
      await settle();
      expect(frames.map((answers) => answers.map(({ id }) => id))).toEqual(sent);
    },
  );
});

describe("a front that is about to end", () => {
  it("says so to every request that waits, and to those that still come", () => {
    const told: number[] = [];
    bringRequests(1, 2);
    asked[0]?.request.whenStopping(() => void told.push(1));
    expect(asked.map(({ request: read }) => read.isStopping)).toEqual([false, false]);
    server.receive([{ kind: "stopping" }]);
    bringRequests(3);
    expect(asked.map(({ request: read }) => read.isStopping)).toEqual([true, true, true]);
    expect(told).toEqual([1]);
  });
});

describe("a client that goes", () => {
  let told: string[];
  const watch = (i: number) => asked[i]?.request.whenClientGoes(() => void told.push(`${i}`));

  beforeEach(() => {
    told = [];
    bringRequests(1, 2);
    watch(0);
  });

  it("is told of before the answer, which is not sent then", async () => {
    say("gone", 1);
    expect(told).toEqual(["0"]);
    asked[0]?.answer("late");
    await settle();
    expect(frames).toEqual([]);
    say("gone", 1);
    expect(told).toEqual(["0"]);
  });

  it("is told of after the answer, if anybody wants to know", async () => {
    asked[0]?.answer("first");
    asked[1]?.answer("second");
    await settle();
    expect(frames.flat().map(({ id, isWatched }) => [id, isWatched])).toEqual([
      [1, true],
      [2, false],
    ]);
    expect(server.size).toBe(1);
    say("gone", 2);
    say("gone", 1);
    expect(told).toEqual(["0"]);
    expect(server.size).toBe(0);
  });

  it("is forgotten once it has taken its answer", async () => {
    asked[0]?.answer("first");
    await settle();
    say("written", 1);
    expect(server.size).toBe(1);
    say("gone", 1);
    expect(told).toEqual([]);
  });

  it("is told of to those who ask after it has gone: it may go in the frame that brings its request", () => {
    server.receive([
      { kind: "request", request: request(3) },
      { kind: "gone", id: 3 },
    ]);
    expect(asked[2]?.request.hasClientGone).toBe(true);
    watch(2);
    expect(told).toEqual(["2"]);
    expect(asked[0]?.request.hasClientGone).toBe(false);
  });

  it("goes with the connection", () => {
    server.end();
    expect(told).toEqual(["0"]);
    expect(server.size).toBe(0);
  });
});
