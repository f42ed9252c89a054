import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  isBucketName,
  R2_ACTIONS,
  type R2Rule,
  r2Notification,
  ruleIsFor,
  rulesOverlap,
} from "./notifications.ts";

const rule = (changes: Partial<R2Rule> = {}): R2Rule => ({
  actions: ["PutObject"],
  prefix: "",
  suffix: "",
  ...changes,
});

describe("a rule of a bucket", () => {
  it("is for writes of its actions whose keys begin and end as it says", () => {
    const images = rule({ prefix: "img/", suffix: ".png" });
    expect(ruleIsFor(images, { action: "PutObject", key: "img/a.png" })).toBe(true);
    expect(ruleIsFor(images, { action: "DeleteObject", key: "img/a.png" })).toBe(false);
    expect(ruleIsFor(images, { action: "PutObject", key: "a.png" })).toBe(false);
    expect(ruleIsFor(images, { action: "PutObject", key: "img/a.jpg" })).toBe(false);
    expect(ruleIsFor(rule(), { action: "PutObject", key: "anything" })).toBe(true);
  });

  const letters = fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 3 });
  const rules = fc.record({
    actions: fc.subarray([...R2_ACTIONS], { minLength: 1 }),
    prefix: letters,
    suffix: letters,
  });

  it("overlaps another one exactly if there is a write that both are for", () => {
    const keys = ["", ...wordsOf("ab", 6)];
    fc.assert(
      fc.property(rules, rules, (a, b) => {
        // A key that holds both longest ends, one behind the other, shows an overlap if any key does.
        const isShared = R2_ACTIONS.some((action) =>
          keys.some((key) => ruleIsFor(a, { action, key }) && ruleIsFor(b, { action, key })),
        );
        expect(rulesOverlap(a, b)).toBe(isShared);
      }),
      { numRuns: 300 },
    );
  });

  it("does not overlap one of other actions, as Cloudflare's documentation says", () => {
    expect(rulesOverlap(rule(), rule({ prefix: "images/" }))).toBe(true);
    expect(rulesOverlap(rule(), rule({ actions: ["DeleteObject"] }))).toBe(false);
    expect(rulesOverlap(rule({ suffix: ".data" }), rule({ suffix: ".meta" }))).toBe(false);
  });
});

describe("the message of a write", () => {
  const at = { id: 1, key: "my-new-object", atMs: Date.UTC(2024, 4, 24, 19, 36, 44, 379) };

  it("has the members of Cloudflare's", () => {
    const stored = { size: 65_536, eTag: "c846ff7a18f28c2e262116d6e8719ef0" };
    expect(r2Notification("3f4b", "my-bucket", { ...at, action: "PutObject", stored })).toEqual({
      account: "3f4b",
      bucket: "my-bucket",
      eventTime: "2024-05-24T19:36:44.379Z",
      action: "PutObject",
      object: { key: "my-new-object", size: 65_536, eTag: "c846ff7a18f28c2e262116d6e8719ef0" },
    });
  });

  it("has no size and no tag after a deletion", () => {
    const { object } = r2Notification("3f4b", "my-bucket", { ...at, action: "DeleteObject", stored: null });
    expect(object).toEqual({ key: "my-new-object" });
  });
});

it("a bucket's name has 3 to 63 lowercase letters, digits and inner hyphens", () => {
  for (const name of ["abc", "a-1", "a".repeat(62), "a".repeat(63)]) expect(isBucketName(name)).toBe(true);
  for (const name of ["ab", "", "Abc", "-ab", "ab-", "a_b", "a.b", "a".repeat(64)])
    expect(isBucketName(name)).toBe(false);
});

/** Lists all words of these letters with at most that many of them. */
function wordsOf(letters: string, lengthMax: number): string[] {
  let last = [""];
  const all: string[] = [];
  for (let i = 0; i < lengthMax; i++) {
    last = last.flatMap((word) => [...letters].map((letter) => word + letter));
    all.push(...last);
  }
  return all;
}
