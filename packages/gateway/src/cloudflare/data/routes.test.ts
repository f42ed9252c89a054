import { expect, it } from "vitest";
import { refusal } from "../../../test/messages-api.ts";

const paths = ["", "/batch", "/pull", "/ack", "/peek", "/purge"];

// conformance: messages-of-no-queue
it.each(paths)("every call to messages%s needs the id of a queue that exists", async (path) => {
  expect(await refusal(path, {}, {}, "orders")).toEqual([400, 10107, expect.any(String)]);
  expect(await refusal(path, {}, {}, "f".repeat(32))).toEqual([404, 10104, expect.any(String)]);
});

it.each(["/pull", "/ack", "/peek"])(
  "every call to messages%s says 10104 when the queue goes meanwhile",
  async (path) => {
    const gone = () => Promise.reject(new Error('Queue "orders" does not exist (10104)'));
    const changes = { pull: gone, settleLeases: gone, peek: gone };
    expect(await refusal(path, {}, changes)).toEqual([404, 10104, "The queue does not exist any more."]);
  },
);
