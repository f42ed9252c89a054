import fc from "fast-check";
import { expect, it } from "vitest";
import {
  ByteFormatError,
  DEDUPLICATION_MS,
  DeduplicationMemory,
  decodeRemembered,
  encodeRemembered,
} from "../index.ts";
import { ByteWriter } from "./bytes.ts";

const T0 = 1_000_000;
const FIRST = { messageId: "m1", seq: 7 };

it.each([
  [DEDUPLICATION_MS - 1, FIRST],
  [DEDUPLICATION_MS, null],
  [DEDUPLICATION_MS + 1, null],
])(
  "deduplication (spec sqs 4.3) answers a duplicate %i ms after the first send with its message",
  (ms, found) => {
    const memory = new DeduplicationMemory();
    memory.remember("id", FIRST, T0);
    const answer = memory.find("id", T0 + ms);
    expect(answer && { messageId: answer.messageId, seq: answer.seq }).toEqual(found);
    expect(memory.find("other", T0 + ms)).toBeNull();
  },
);

it("deduplication (spec sqs 4.3) does what a plain list of accepted sends does, expired or not, restarted or not", () => {
  const step = fc.tuple(
    fc.constantFrom("send", "expire", "restart", "clear"),
    fc.nat(5),
    fc.constantFrom(0, 1, 1000, 60_000, 300_000),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      let memory = new DeduplicationMemory();
      let rows: Uint8Array[] = [];
      let sent: { key: string; atMs: number; seq: number }[] = [];
      let nowMs = T0;
      steps.forEach(([what, id, passMs], seq) => {
        nowMs += passMs;
        const key = `id${id}`;
        if (what === "send") {
          const first = sent.findLast((send) => send.key === key && nowMs < send.atMs + DEDUPLICATION_MS);
          const found = memory.find(key, nowMs);
          expect(found?.seq).toBe(first?.seq);
          if (found === null) {
            rows.push(encodeRemembered([memory.remember(key, { messageId: `m${seq}`, seq }, nowMs)]));
            sent.push({ key, atMs: nowMs, seq });
          }
        } else if (what === "expire") {
          memory.expire(nowMs);
          const left = new Set(sent.filter((send) => nowMs < send.atMs + DEDUPLICATION_MS).map((s) => s.key));
          expect(memory.size).toBe(left.size);
        } else if (what === "clear") {
          memory.clear();
          rows = [];
          sent = [];
        } else {
          memory = new DeduplicationMemory();
          for (const row of rows) for (const remembered of decodeRemembered(row)) memory.restore(remembered);
        }
      });
    }),
  );
});

it("deduplication (spec sqs 4.3) is stored with a checksum, and refuses what was not stored this way", () => {
  const stored = encodeRemembered([{ key: "a\nb", messageId: "é", seq: 2 ** 45, expiresMs: 12.5 }]);
  expect(decodeRemembered(stored)).toEqual([{ key: "a\nb", messageId: "é", seq: 2 ** 45, expiresMs: 12.5 }]);
  for (let i = 0; i < stored.length; i++) {
    const corrupt = stored.slice();
    corrupt[i] = (corrupt[i] ?? 0) ^ 1;
    expect(() => decodeRemembered(corrupt)).toThrow(ByteFormatError);
    expect(() => decodeRemembered(stored.subarray(0, i))).toThrow(ByteFormatError);
  }
});

it("deduplication (spec sqs 4.3) forgets in the order of expiry, also what was accepted anew after its five minutes", () => {
  const memory = new DeduplicationMemory();
  memory.remember("again", { messageId: "1", seq: 1 }, 0);
  memory.remember("once", { messageId: "2", seq: 2 }, 1);
  memory.remember("again", { messageId: "3", seq: 3 }, DEDUPLICATION_MS);
  memory.expire(DEDUPLICATION_MS + 1);
  expect(memory.size).toBe(1);
  expect(memory.find("again", DEDUPLICATION_MS + 1)).toMatchObject({ seq: 3 });
});

it.each([
  ["of another version", [2, 0], "deduplication ids of version 2"],
  ["of more ids than there are bytes", [1, 2 ** 40], "1099511627776 deduplication ids in 11 bytes"],
  ["with something behind it", [1, 0, 0], "1 bytes are left over"],
])("deduplication (spec sqs 4.3) refuses a row %s", (_what, values, reason) => {
  const out = new ByteWriter();
  for (const value of values) out.uint(value);
  expect(() => decodeRemembered(out.finish())).toThrow(new ByteFormatError(reason));
});

it.each([
  [DEDUPLICATION_MS - 1, ["first", "second"]],
  [DEDUPLICATION_MS, ["second"]],
  [DEDUPLICATION_MS + 1, []],
])("deduplication (spec sqs 4.3) lists what is remembered after %i ms, oldest first", (ms, keys) => {
  const memory = new DeduplicationMemory();
  memory.remember("first", FIRST, T0);
  memory.remember("second", FIRST, T0 + 1);
  expect([...memory.keys(T0 + ms)]).toEqual(keys);
});
