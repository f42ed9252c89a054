import { EXIT_FAILED } from "@sluice/project/errors";
import { afterEach, expect, it, vi } from "vitest";
import { BrokerClient } from "./broker-client.ts";
import { liveFrames } from "./events.ts";

afterEach(() => vi.unstubAllGlobals());

it.each([
  ["unauthorized", "The broker at http://broker does not know this token, or it has expired."],
  ["forbidden", "It may not."],
])("a stream that ends as %s is over with the reason", async (code, message) => {
  const text = `data: {"at":"now"}\n\nevent: end\ndata: {"code":"${code}","message":"It may not."}\n\n`;
  vi.stubGlobal("fetch", async () => new Response(text));
  const frames: unknown[] = [];
  const read = async () => {
    const client = new BrokerClient({ url: "http://broker", token: "secret" });
    for await (const frame of liveFrames(client, { queue: null, kinds: [] })) frames.push(frame);
  };
  await expect(read()).rejects.toMatchObject({ message, exitCode: EXIT_FAILED });
  expect(frames).toEqual([{ at: "now" }]);
});
