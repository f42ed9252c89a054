import { describe, expect, it } from "vitest";
import { CHECKERS } from "../checkers/index.ts";
import { hunt } from "./hunt.ts";
import { PLANTED_BUGS } from "./index.ts";

/** Histories within which every planted bug has to be found: a 20-second run has thousands. */
const SEEDS_MAX = 600;
/** Seeds near which the rarest are found. Where a change moves them away, the search goes on and takes longer. */
const FIRST_SEEDS: Readonly<Record<string, number>> = {
  "what an endpoint asks for in Retry-After is not heard": 491,
  "a settlement that can wait is never made": 182,
  "an attempt id is never forgotten": 98,
  "an endpoint that dies of a message gets it for ever": 138,
  "a FIFO topic takes what has the deduplication id of an earlier message": 134,
  "a consumer that was absent is never found again": 91,
  "a move that is transferred again is taken again": 505,
  "a moved message takes along how often it was received": 144,
  "a queue that could not be told what it is counts as told": 135,
  "an endpoint that is not there costs an attempt": 73,
  "a worker daemon that is to stop goes on": 72,
  "a restart forgets which receive had which attempt id": 95,
  "now and then messages that are to be moved are not transferred": 66,
  "a batch that was retried on purpose is acknowledged": 38,
  "a notification that its endpoint refuses for good is tried again": 54,
  "a move task counts one message too many": 60,
  "messages that are to be moved and not transferred are gone": 60,
  "a retry policy has another jitter": 34,
  "what is released stays invisible": 46,
  "every other run of a periodic task is left out": 48,
  "a queue goes by whatever it was told last": 41,
  "a receive that is made again by its attempt id is another one": 35,
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
