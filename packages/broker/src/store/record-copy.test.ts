import { expect, it } from "vitest";
import { newId } from "../platform/new-id.ts";
import { recordCopy, recordFrom } from "./record-copy.ts";

const RECORD = {
  queueId: newId(),
  name: 'a "queue"',
  createdOnMs: 1,
  modifiedOnMs: 2,
  revision: 3,
  emptyAsOf: 0,
  consumer: null,
  jurisdiction: null,
  dialects: {},
  definition: { deliveryDelaySeconds: 0, messageRetentionSeconds: 60, producers: [], consumer: null },
};

it("a queue's copy of its record is read as it was stored", () => {
  expect(recordFrom(recordCopy(RECORD))).toEqual(RECORD);
});

it("a queue's copy of its record says nothing, and throws nothing, whichever of its bytes is damaged", () => {
  const copy = recordCopy(RECORD);
  for (let at = 0; at < copy.length; at++) {
    const flipped = String.fromCharCode(copy.charCodeAt(at) ^ 2);
    expect(recordFrom(copy.slice(0, at) + flipped + copy.slice(at + 1)), `at ${at}`).toBeNull();
  }
});
