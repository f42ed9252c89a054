import fc from "fast-check";
import { expect, it } from "vitest";
import { MessageList, SLACK_MAX } from "./message-list.ts";
import { Segment } from "./segment.ts";

const COUNT = 200;

function segmentOf(count: number): Segment {
  const segment = new Segment(1, new Uint32Array(count));
  segment.runs.append(0, 0, 0, 0);
  return segment;
}

function placesOf(list: MessageList<Segment>): number[][] {
  return Array.from({ length: list.length }, (_, place) => [list.timeAt(place), list.indexAt(place)]);
}

it("a list of messages is ordered by time and sequence number, whatever is put in and taken out", () => {
  const segment = segmentOf(COUNT);
  const message = fc.tuple(fc.constantFrom(0, 0, 0, 5, 7), fc.nat(COUNT - 1));
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), message), { maxLength: 150 }), (steps) => {
      const list = new MessageList<Segment>();
      let expected: number[][] = [];
      for (const [isRemoval, [time, index]] of steps) {
        const known = expected.find((entry) => entry[1] === index);
        if (isRemoval && expected.length > 0) {
          const [first] = expected;
          const [at = 0, i = 0] = known ?? first ?? [];
          list.remove(segment, i, at);
          expected = expected.filter((entry) => entry[1] !== i);
        } else if (known === undefined) {
          list.insert(segment, index, time);
          expected.push([time, index]);
          expected.sort(([a = 0, i = 0], [b = 0, j = 0]) => a - b || i - j);
        }
        expect(placesOf(list)).toEqual(expected);
      }
    }),
  );
});

/** Messages 0, 10, 20, ... of a segment. */
function everyTenth(count: number): { list: MessageList<Segment>; segment: Segment } {
  const [list, segment] = [new MessageList<Segment>(), segmentOf(10 * count)];
  for (let i = 0; i < count; i++) list.insert(segment, 10 * i, 0);
  return { list, segment };
}

it("a list of messages frees the memory of what has left at the front, when it is as much as is left", () => {
  const count = 3 * SLACK_MAX;
  const { list, segment } = everyTenth(count);
  const slack = Array.from({ length: count }, (_, i) => {
    list.remove(segment, 10 * i, 0);
    return list.slack;
  });
  const half = count / 2;
  expect(slack.slice(0, half - 1)).toEqual(Array.from({ length: half - 1 }, (_, i) => i + 1));
  expect(slack.slice(half - 1, half + 1)).toEqual([0, 1]);
  expect(Math.max(...slack.slice(half))).toBe(SLACK_MAX - 1);
  expect(slack.at(-1)).toBe(0);
  list.insert(segment, 5, 0);
  expect(placesOf(list)).toEqual([[0, 5]]);
});

it("a list of messages is right after its memory was freed", () => {
  const [list, segment, count] = [new MessageList<Segment>(), segmentOf(3 * SLACK_MAX), 2 * SLACK_MAX];
  for (let i = 0; i < count; i++) list.insert(segment, i, 5 * i);
  for (let i = 0; i < SLACK_MAX; i++) list.remove(segment, i, 5 * i);
  expect(list.slack).toBe(0);
  list.insert(segment, count, 7 * count);
  const left = Array.from({ length: SLACK_MAX }, (_, i) => [5 * (SLACK_MAX + i), SLACK_MAX + i]);
  expect(placesOf(list)).toEqual([...left, [7 * count, count]]);
});

it.each([
  [0, 3],
  [1, 3],
  [2, 3],
  [3, 2],
  [4, 2],
])("a list of messages closes the gap that message %i of five leaves from the nearer end", (place, slack) => {
  const { list, segment } = everyTenth(7);
  for (const i of [0, 1]) list.remove(segment, 10 * i, 0);
  list.remove(segment, 10 * (2 + place), 0);
  expect(list.slack).toBe(slack);
  expect(placesOf(list)).toEqual([2, 3, 4, 5, 6].filter((i) => i !== 2 + place).map((i) => [0, 10 * i]));
});

it.each([
  [0, 1],
  [1, 1],
  [2, 2],
  [3, 2],
  [4, 2],
])(
  "a list of messages makes room before message %i of four from the nearer end, if there is some before the front",
  (place, slack) => {
    const { list, segment } = everyTenth(6);
    for (const i of [0, 1]) list.remove(segment, 10 * i, 0);
    list.insert(segment, 10 * (2 + place) - 1, 0);
    expect(list.slack).toBe(slack);
    const expected = [20, 30, 40, 50, 10 * (2 + place) - 1].sort((a, b) => a - b);
    expect(placesOf(list)).toEqual(expected.map((index) => [0, index]));
  },
);

it("a list of messages makes room behind the last message when there is none before the first", () => {
  const { list, segment } = everyTenth(3);
  list.insert(segment, 5, 0);
  expect(list.slack).toBe(0);
  expect(placesOf(list)).toEqual([0, 5, 10, 20].map((index) => [0, index]));
});

it("a list of messages has nothing at a place where no message is", () => {
  const { list, segment } = everyTenth(2);
  expect(() => list.segmentAt(2)).toThrow(new RangeError("place 2 of 2"));
  list.remove(segment, 10, 0);
  expect(() => list.indexAt(1)).toThrow(new RangeError("place 1 of 1"));
  expect(() => list.timeAt(1)).toThrow(new RangeError("place 1 of 1"));
});

it("a list of messages keeps no segment of a message that has left at the front", () => {
  const { list, segment } = everyTenth(3);
  list.remove(segment, 0, 0);
  expect(list.slack).toBe(1);
  expect(() => list.segmentAt(-1)).toThrow(RangeError);
  list.insert(segment, 5, 0);
  expect(placesOf(list)).toEqual([5, 10, 20].map((index) => [0, index]));
});

it("a list of messages refuses to take out what is not in it", () => {
  const segment = segmentOf(3);
  const list = new MessageList<Segment>();
  expect(() => list.remove(segment, 0, 0)).toThrow("message 0 of segment 1 is not in the list");
  list.insert(segment, 0, 0);
  list.insert(segment, 2, 0);
  expect(() => list.remove(segment, 1, 0)).toThrow("message 1 of segment 1 is not in the list");
  expect(() => list.remove(segment, 2, 1)).toThrow("message 2 of segment 1 is not in the list");
  const other = new Segment(2, new Uint32Array(1));
  other.runs.append(0, 0, 0, 0);
  expect(() => list.remove(other, 0, 0)).toThrow("message 0 of segment 2 is not in the list");
});
