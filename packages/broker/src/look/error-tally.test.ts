import { ERROR_GROUPS_MAX } from "@sluice/protocol";
import fc from "fast-check";
import { expect, it } from "vitest";
import { ERRORS_TOLD_APART_MAX, ErrorTally } from "./error-tally.ts";

function countsOf(errors: readonly (string | null)[]) {
  const tally = new ErrorTally();
  for (const error of errors) tally.add(error);
  return tally.counts;
}

const numbered = (count: number) => Array.from({ length: count }, (_, i) => `Error: ${i}`);

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
