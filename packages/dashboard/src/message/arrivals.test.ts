import { expect, it } from "vitest";
import { arrivalsSince, type Moment } from "./arrivals.ts";

const at = (held: number, came: number | null = null): Moment => ({ held, came });

it.each<[string, number, Moment, Moment, number]>([
  ["nothing has happened", 3, at(3, 10), at(3, 10), 0],
  ["three came", 3, at(3, 10), at(6, 13), 3],
  ["three came and five left", 3, at(3, 10), at(1, 13), 3],
  ["some left", 3, at(3, 10), at(1, 10), 0],
  ["two came before the first moment", 3, at(5, 12), at(5, 12), 2],
  ["two came before and one after it", 3, at(5, 12), at(6, 13), 3],
  ["some left before and one came after it", 3, at(1, 10), at(2, 11), 1],
  ["the queue's object has started again", 3, at(3, 10), at(5, 2), 2],
  ["the queue keeps no history", 3, at(3, 0), at(5, 0), 2],
  ["no figures have come", 3, at(3), at(5), 2],
  ["it is not known how many it held", Number.POSITIVE_INFINITY, at(5, 12), at(6, 13), 1],
  ["the first figures have come", 3, at(3), at(3, 500), 0],
])("arrivals: %s", (_, of, first, latest, expected) => {
  expect(arrivalsSince(of, first, latest)).toBe(expected);
});
