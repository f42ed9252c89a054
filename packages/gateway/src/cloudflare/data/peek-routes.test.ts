import { PULL_BATCH_SIZE_DEFAULT, packMessages } from "@sluice/protocol";
import { expect, it } from "vitest";
import { ask, refusal } from "../../../test/messages-api.ts";

// conformance: peek-and-delete-over-http
it("a look at messages (spec cloudflare-queues 5.2) shows them with a ref to each", async () => {
  const packed = packMessages([
    { id: "a".repeat(32), contentType: "json", body: new TextEncoder().encode("[1]"), timestampMs: 5 },
  ]);
  const peek = async () => ({ packed, attempts: [0], refs: ["r"] });
  const { answer } = await ask("/peek", {}, { peek });
  expect(answer.result).toEqual({
    messages: [
      {
        id: "a".repeat(32),
        body: "WzFd",
        attempts: 0,
        timestamp_ms: 5,
        metadata: { "CF-Content-Type": "json" },
        ref: "r",
      },
    ],
  });
  expect((await ask("/peek", "")).calls).toEqual([PULL_BATCH_SIZE_DEFAULT]);
});

// conformance: peek-and-delete-over-http
it("a look at messages (spec cloudflare-queues 5.2) deletes by refs", async () => {
  const { answer, calls } = await ask("/purge", { refs: [{ ref: "r" }, { ref: "s" }] });
  expect(calls).toEqual([["r", "s"]]);
  expect(answer.result).toEqual({ errors: [], warnings: { r: "gone" } });
  expect(await refusal("/purge", {})).toEqual([400, 10207, 'Required at "refs"']);
});
