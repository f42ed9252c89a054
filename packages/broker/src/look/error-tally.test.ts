import { ERROR_GROUPS_MAX, parseFilter } from "@sluice/protocol";
import fc from "fast-check";
import { expect, it } from "vitest";
import { CUT_ERROR_MAX, ERRORS_TOLD_APART_MAX, ErrorTally } from "./error-tally.ts";
import { errorGroupTest } from "./matcher.ts";

function countsOf(errors: readonly (string | null)[]) {
  const tally = new ErrorTally();
  for (const error of errors) tally.add(error);
  return tally.counts;
}

/** Errors that differ in their letters. */
const numbered = (count: number) =>
  Array.from({ length: count }, (_, i) => {
    const letters = [...`${i}`].map((digit) => String.fromCharCode(103 + Number(digit)));
    return `Error: ${letters.join("")}`;
  });

it.each([
  [ERROR_GROUPS_MAX - 1, ERROR_GROUPS_MAX - 1, 0],
  [ERROR_GROUPS_MAX, ERROR_GROUPS_MAX, 0],
  [ERROR_GROUPS_MAX + 1, ERROR_GROUPS_MAX, 1],
])("of %i errors a tally lists %i, and counts %i messages of others", (errors, groups, others) => {
  const counts = countsOf(numbered(errors));
  expect([counts.groups.length, counts.others]).toEqual([groups, others]);
});

it.each([
  [ERRORS_TOLD_APART_MAX - 1, 2],
  [ERRORS_TOLD_APART_MAX, 2],
  [ERRORS_TOLD_APART_MAX + 1, 1],
])(
  "the last of %i errors that comes twice more is listed first with %i more, if it is told apart",
  (errors, most) => {
    const all = numbered(errors);
    const last = all.at(-1) ?? "";
    const { groups, others } = countsOf([...all, last]);
    expect(groups[0]?.count).toBe(most);
    expect(groups.reduce((sum, { count }) => sum + count, others)).toBe(errors + 1);
  },
);

it("every message is counted once, and no other error is more frequent than one that is listed", () => {
  const errors = fc.array(fc.option(fc.stringMatching(/^[a-z]{0,2}$/)), { maxLength: 60 });
  fc.assert(
    fc.property(errors, (all) => {
      const { groups, others, none } = countsOf(all);
      const of = (error: string | null) => all.filter((each) => each === error).length;
      expect(none).toBe(of(null));
      for (const { error, count } of groups) expect(count).toBe(of(error));
      expect(groups.reduce((sum, { count }) => sum + count, others + none)).toBe(all.length);
      const least = groups.at(-1)?.count ?? 0;
      const listed = new Set(groups.map(({ error }) => error));
      for (const error of new Set(all)) {
        if (error !== null && !listed.has(error)) expect(of(error)).toBeLessThanOrEqual(least);
      }
    }),
  );
});

it.each([
  ["card declined for order 60000", "card declined for order 60001", "card declined for order #"],
  ["no 5f1c52a0d9b34c1f in stock", "no 00aabbccddeeff01 in stock", "no # in stock"],
  [
    "4F1C52A0-d9b3-4c1f-8a0e-6a7712c3d4e5: not found",
    "00000000-aaaa-bbbb-cccc-dddddddddddd: not found",
    "#: not found",
  ],
  ["user_5f1c52a0 is unknown", "user_abcdef01 is unknown", "user_# is unknown"],
  ["timeout after 1.5 s", "timeout after 30 s", "timeout after # s"],
])("%s and %s are one group, with the pattern that both have", (first, second, text) => {
  expect(countsOf([first, second, first]).groups).toEqual([{ error: first, count: 3, text }]);
  expect(countsOf([first, first]).groups).toEqual([{ error: first, count: 2 }]);
});

it.each([-1, 0, 1])(
  "errors that were cut are told apart by their first characters, at %i of them",
  (more) => {
    const same = "x".repeat(CUT_ERROR_MAX + more);
    const errors = ["y", "z"].map((cut) => `${same}${cut}… (printed at src/pay.ts:1:2)`);
    expect(countsOf(errors).groups).toHaveLength(more < 0 ? 2 : 1);
    expect(countsOf([`${same}y`, `${same}z`]).groups).toHaveLength(2);
  },
);

it("an error is one group, wherever the ids in it have made it be cut", () => {
  const whole = (id: number) =>
    `TypeError: https://pay.example.com/v1/charges/${id} answered 422: ${"unit price ".repeat(20)}`;
  const errors = [7, 12, 345].map((id) => `${whole(id).slice(0, 129)}… (printed at src/pay.ts:5:11)`);
  expect(countsOf(errors).groups).toEqual([
    {
      error: errors[0],
      count: 3,
      text: expect.stringMatching(/charges\/# answered #: unit .*… \(printed at src\/pay\.ts:5:11\)$/),
    },
  ]);
});

it.each([
  ["order 1 declined", "order 1 expired"],
  ["the cafe is closed", "the face is closed"],
  ["decadence", "defaced"],
  ["404", "500"],
  ["1.5", "2.5"],
])("%s and %s are two groups", (first, second) => {
  expect(countsOf([first, second]).groups).toEqual([
    { error: first, count: 1 },
    { error: second, count: 1 },
  ]);
});

const piece = fc.constantFrom(
  ...'a b: # 1 22 3.5 \\ " (printed; its handler asked for the retry)'.split(" "),
  " ",
  "5f1c52a0d9b34c1f",
  "abcdefab-abcd-abcd-abcd-abcdefabcdef",
  "smtp down",
  "…",
  "x".repeat(CUT_ERROR_MAX),
  "-",
);
const error = fc.oneof(
  fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join("")),
  fc.string({ unit: "grapheme", maxLength: 40 }).map((text) => text.replace(/\s/g, " ")),
);

it("the filter of a group fits the errors of that group and no others", () => {
  fc.assert(
    fc.property(fc.array(error, { minLength: 1, maxLength: ERROR_GROUPS_MAX }), (errors) => {
      const tally = new ErrorTally();
      for (const each of errors) tally.add(each);
      const { groups } = tally.counts;
      const found = groups.map(({ error: first, count, text = first }) => {
        const parsed = parseFilter(`errorGroup:"${text.replace(/["\\]/g, "\\$&")}"`);
        if (!parsed.ok) throw new Error(parsed.message);
        const [term] = parsed.filter;
        if (term?.field !== "errorGroup") throw new Error("another term");
        const fits = errors.filter(errorGroupTest(term.like));
        expect(fits).toHaveLength(count);
        expect(fits[0]).toBe(first);
        return fits;
      });
      expect(found.flat().sort()).toEqual([...errors].sort());
    }),
    { numRuns: 1_000 },
  );
});

it("errors of two places in code are two groups, whatever their numbers are", () => {
  const at = (order: number, place: string) => `Error: order ${order} declined (${place})`;
  const { groups } = countsOf([
    at(1, "src/pay.ts:15:36"),
    at(22, "src/pay.ts:15:36"),
    at(3, "src/pay.ts:120:7"),
  ]);
  expect(groups).toEqual([
    { error: at(1, "src/pay.ts:15:36"), count: 2, text: "Error: order # declined (src/pay.ts:15:36)" },
    { error: at(3, "src/pay.ts:120:7"), count: 1 },
  ]);
});
