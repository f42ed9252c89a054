import { expect, it } from "vitest";
import { epochOf, firstIdOf, ID_MAX, NARROW_EPOCHS_FROM, NARROW_IDS } from "./epochs.ts";

it.each([
  [0, 0],
  [1, 2 ** 32],
  [NARROW_EPOCHS_FROM - 1, 2 ** 51 - 2 ** 32],
  [NARROW_EPOCHS_FROM, 2 ** 51],
  [NARROW_EPOCHS_FROM + 1, 2 ** 51 + NARROW_IDS],
])("epoch %i has the ids from %i on, up to those of the next one", (epoch, first) => {
  expect(firstIdOf(epoch)).toBe(first);
  expect(epochOf(first)).toBe(epoch);
  expect(epochOf(firstIdOf(epoch + 1) - 1)).toBe(epoch);
});

it("there are epochs for a start every ten seconds of a century, and all of their ids are exact", () => {
  const century = (100 * 365.25 * 86_400) / 10;
  expect(firstIdOf(Math.ceil(century) + 1)).toBeLessThan(ID_MAX);
  expect(Number.isSafeInteger(ID_MAX + 2 ** 32 - 1)).toBe(true);
});
