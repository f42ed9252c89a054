import fc from "fast-check";
import { expect, it } from "vitest";
import { FIRST_BYTES, KEPT_BYTES_MAX, RecordTail } from "./record-tail.ts";

const step = fc.oneof(
  fc.record({ append: fc.oneof(fc.nat(2_000), fc.constantFrom(FIRST_BYTES, KEPT_BYTES_MAX)) }),
  fc.record({ drop: fc.double({ min: 0, max: 1, noNaN: true }) }),
  fc.constant("clear" as const),
);

it("a tail holds what was added behind what was dropped", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const tail = new RecordTail();
      let expected: number[] = [];
      let next = 0;
      for (const each of steps) {
        if (each === "clear") {
          tail.clear();
          expected = [];
        } else if ("append" in each) {
          const bytes = Uint8Array.from({ length: each.append }, () => next++);
          tail.append(bytes);
          expected = [...expected, ...bytes];
        } else {
          const bytes = Math.floor(each.drop * tail.byteLength);
          tail.drop(bytes);
          expected = expected.slice(bytes);
        }
        expect(tail.byteLength).toBe(expected.length);
        expect(Buffer.from(tail.view()).equals(Buffer.from(expected))).toBe(true);
      }
    }),
    { numRuns: 50 },
  );
});

it("a tail moves its bytes within a buffer that it has grown into", () => {
  const tail = new RecordTail();
  tail.append(new Uint8Array(FIRST_BYTES));
  tail.drop(2_000);
  const { buffer } = tail.view();
  for (let i = 0; i < 1_000; i++) {
    tail.append(new Uint8Array(1_000));
    tail.drop(1_000);
  }
  expect(tail.view().buffer === buffer).toBe(true);
});

it.each([
  [0, true],
  [1, false],
])("an empty tail keeps a buffer of the limit and %i more bytes: %s", (more, isKept) => {
  const tail = new RecordTail();
  tail.append(new Uint8Array((KEPT_BYTES_MAX + 2 * more) / 2));
  const { buffer } = tail.view();
  expect(buffer.byteLength).toBe(KEPT_BYTES_MAX + 2 * more);
  tail.clear();
  expect(tail.view().buffer === buffer).toBe(isKept);
});
