import { describe, expect, it } from "vitest";
import { CHECKERS } from "../checkers/index.ts";
import { hunt } from "./hunt.ts";
import { PLANTED_BUGS } from "./index.ts";

/** Histories within which every planted bug has to be found: a 20-second run has thousands. */
const SEEDS_MAX = 600;
/** Seeds near which the rarest are found. Where a change moves them away, the search goes on and takes longer. */
const FIRST_SEEDS: Readonly<Record<string, number>> = {
  "what an endpoint asks for in Retry-After is not heard": 491,
  "a settlement that can wait is never made": 218,
  "an attempt id is never forgotten": 138,
  "an endpoint that dies of a message gets it for ever": 138,
  "a FIFO topic takes what has the deduplication id of an earlier message": 134,
  "a consumer that was absent is never found again": 122,
  "a move that is transferred again is taken again": 509,
  "a moved message takes along how often it was received": 144,
  "a queue that could not be told what it is counts as told": 242,
  "an endpoint that is not there costs an attempt": 99,
  "a worker daemon that is to stop goes on": 167,
  "a restart forgets which receive had which attempt id": 162,
  "now and then messages that are to be moved are not transferred": 72,
  "a batch that was retried on purpose is acknowledged": 78,
  "a notification that its endpoint refuses for good is tried again": 59,
  "a move task counts one message too many": 71,
  "messages that are to be moved and not transferred are gone": 71,
  "a retry policy has another jitter": 59,
  "what is released stays invisible": 70,
  "every other run of a periodic task is left out": 120,
  "a queue goes by whatever it was told last": 41,
  "a receive that is made again by its attempt id is another one": 43,
  "a queue that is gone forgets what it has passed on": 63,
};

describe("every property can fail", () => {
  it.each(PLANTED_BUGS)("$property: $name", { timeout: 120_000 }, async (bug) => {
    const found = await hunt(bug, SEEDS_MAX, FIRST_SEEDS[bug.name]);
    expect(found?.violation?.property).toBe(bug.property);
  });

  it("and none is watched without a planted bug that breaks it", () => {
    const broken = new Set(PLANTED_BUGS.map(({ property }) => property));
    expect([...broken].sort()).toEqual(CHECKERS.map(({ property }) => property).sort());
  });
});
