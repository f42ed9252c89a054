import fc from "fast-check";
import { expect, it } from "vitest";
import { serverSentEvents } from "./server-sent-events.ts";

it("a stream is read as the same events wherever it is cut", async () => {
  const text = ': hello\n\nevent: x\ndata: {"a":"ü"}\n\n\n\ndata: 1\ndata: 2\n\ndata: "cut off';
  const bytes = new TextEncoder().encode(text.replace("data: 1\ndata: 2", "data: [1,\ndata: 2]"));
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 0, max: bytes.length })), async (cuts) => {
      const ends = [...cuts, bytes.length].sort((a, b) => a - b);
      let at = 0;
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          for (const end of ends) {
            controller.enqueue(bytes.slice(at, end));
            at = end;
          }
          controller.close();
        },
      });
      const events: unknown[] = [];
      for await (const event of serverSentEvents(body, 60_000)) events.push(event);
      expect(events).toEqual([
        { name: "x", data: { a: "ü" } },
        { name: "message", data: [1, 2] },
      ]);
    }),
  );
});
