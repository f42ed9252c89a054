import { beforeEach, describe, expect, it, vi } from "vitest";
import { keepToken } from "./call.ts";
import { Feed, type Notice, SILENCE_MS_MAX } from "./feed.ts";

/** A stream of a broker: what it sends, and then its end. */
function streamOf(...texts: string[]): Response {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const text of texts) controller.enqueue(new TextEncoder().encode(text));
      controller.close();
    },
  });
  return new Response(body);
}

const END = 'event: end\ndata: {"code":"unauthorized","message":"The token \\"shop\\" has expired."}\n\n';
const unauthorized = () => Response.json({ error: { code: "unauthorized", message: "no" } }, { status: 401 });

let answers: (() => Response)[];
const fetched = vi.fn(async () => (answers.shift() ?? unauthorized)());

beforeEach(() => {
  vi.useFakeTimers();
  fetched.mockClear();
  const kept = new Map<string, string>();
  vi.stubGlobal("fetch", fetched);
  vi.stubGlobal("sessionStorage", {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => kept.set(key, value),
    removeItem: (key: string) => kept.delete(key),
  });
  const page = new EventTarget();
  vi.stubGlobal("document", Object.assign(new EventTarget(), { hidden: false }));
  vi.stubGlobal("addEventListener", page.addEventListener.bind(page));
  vi.stubGlobal("removeEventListener", page.removeEventListener.bind(page));
  vi.stubGlobal("dispatchEvent", page.dispatchEvent.bind(page));
  return () => {
    vi.unstubAllGlobals();
    vi.useRealTimers();
  };
});

function opened() {
  const feed = new Feed({ kind: "queues" });
  const notices: Notice["kind"][] = [];
  feed.subscribe(({ kind }) => notices.push(kind));
  feed.open();
  return { feed, notices };
}

describe("a feed", () => {
  it("whose stream ends because its token counts no longer opens none until there is another token", async () => {
    answers = [() => streamOf('data: {"events":[]}\n\n', END)];
    const { feed, notices } = opened();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(feed.state).toBe("closed");
    // The page asks, is refused, and shows its form.
    expect(notices).toEqual(["ask", "frame", "ask"]);
    expect(fetched).toHaveBeenCalledOnce();
    answers = [() => streamOf()];
    keepToken("another");
    await vi.advanceTimersByTimeAsync(0);
    expect(fetched).toHaveBeenCalledTimes(2);
    feed.close();
  });

  it("whose stream finds no place asks, and has a stream again when there is a place", async () => {
    const taken = () =>
      Response.json({ error: { code: "too_many_streams", message: "no" } }, { status: 503 });
    answers = [taken, taken];
    const { feed, notices } = opened();
    await vi.advanceTimersByTimeAsync(9_999);
    expect([feed.state, fetched.mock.calls.length, notices.length]).toEqual(["asking", 1, 9]);
    await vi.advanceTimersByTimeAsync(1);
    expect(fetched).toHaveBeenCalledTimes(2);
    answers = [() => new Response(new ReadableStream())];
    await vi.advanceTimersByTimeAsync(10_000);
    expect(feed.state).toBe("stream");
    feed.close();
  });

  it("whose stream is silent opens another one, and keeps one with comments", async () => {
    let sender: ReadableStreamDefaultController<Uint8Array> | undefined;
    const cancel = vi.fn();
    const silent = () =>
      new Response(
        new ReadableStream<Uint8Array>({
          start: (controller) => {
            sender = controller;
          },
          cancel,
        }),
      );
    answers = [silent, () => new Response(new ReadableStream())];
    const { feed, notices } = opened();
    for (let i = 0; i < 3; i++) {
      await vi.advanceTimersByTimeAsync(SILENCE_MS_MAX - 1);
      sender?.enqueue(new TextEncoder().encode(": nothing has happened\n\n"));
    }
    await vi.advanceTimersByTimeAsync(SILENCE_MS_MAX - 1);
    expect([feed.state, fetched.mock.calls.length, notices]).toEqual(["stream", 1, ["ask"]]);
    await vi.advanceTimersByTimeAsync(1);
    expect([feed.state, notices]).toEqual(["opening", ["ask", "ask"]]);
    expect(cancel).toHaveBeenCalledOnce();
    await vi.advanceTimersByTimeAsync(1_000);
    expect([feed.state, fetched.mock.calls.length]).toEqual(["stream", 2]);
    feed.close();
  });

  it("whose stream is refused later waits twice as long each time before it opens one again", async () => {
    const forbidden = () => Response.json({ error: { code: "forbidden", message: "no" } }, { status: 403 });
    answers = Array.from({ length: 100 }, () => forbidden);
    answers.unshift(() => streamOf(END.replace("unauthorized", "forbidden")));
    const { feed } = opened();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(feed.state).toBe("opening");
    expect(fetched.mock.calls.length).toBeLessThan(12);
    feed.close();
  });
});
