import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type HeapNode, isBefore, TimeHeap } from "./heap.ts";

function node(atMs: number, seq = 0): HeapNode {
  return { atMs, seq, at: -1 };
}

function heapOf(...nodes: HeapNode[]): TimeHeap<HeapNode> {
  const heap = new TimeHeap<HeapNode>();
  for (const each of nodes) heap.push(each);
  return heap;
}

/** Empties the heap from the top. */
function drain(heap: TimeHeap<HeapNode>): HeapNode[] {
  const drained: HeapNode[] = [];
  for (let first = heap.peek(); first !== undefined; first = heap.peek()) {
    heap.remove(first);
    drained.push(first);
  }
  return drained;
}

const byKey = (a: HeapNode, b: HeapNode) => a.atMs - b.atMs || a.seq - b.seq;

it("before orders by time, and equal times by sequence", () => {
  expect(isBefore(node(1, 9), node(2, 0))).toBe(true);
  expect(isBefore(node(2, 0), node(1, 9))).toBe(false);
  expect(isBefore(node(1, 1), node(1, 2))).toBe(true);
  expect(isBefore(node(1, 2), node(1, 1))).toBe(false);
  expect(isBefore(node(1, 1), node(1, 1))).toBe(false);
});

describe("TimeHeap", () => {
  it("is empty at first", () => {
    const heap = heapOf();
    expect(heap.size).toBe(0);
    expect(heap.peek()).toBeUndefined();
  });

  it("has the earliest node on top, and of equal times the one that was sent first", () => {
    const [late, second, first] = [node(2, 0), node(1, 8), node(1, 7)];
    const heap = heapOf(late, second, first);
    expect(heap.size).toBe(3);
    expect(drain(heap)).toEqual([first, second, late]);
    expect(heap.size).toBe(0);
  });

  it("refuses a node that is in a heap already", () => {
    const twice = node(1);
    const heap = heapOf(twice);
    expect(() => heap.push(twice)).toThrow("in a heap already");
    expect(heap.size).toBe(1);
  });

  it("lets a node that is in no heap alone when it is removed", () => {
    const heap = heapOf(node(1));
    heap.remove(node(1));
    expect(heap.size).toBe(1);
  });

  it("says of a node that left that it is in no heap", () => {
    const left = node(1);
    const heap = heapOf(left, node(2));
    heap.remove(left);
    expect(left.at).toBe(-1);
    heap.push(left);
    expect(heap.peek()).toBe(left);
  });

  it("moves a node whose time has changed, in both directions", () => {
    const nodes = [1, 2, 3, 4, 5, 6, 7].map((atMs) => node(atMs));
    const heap = heapOf(...nodes);
    const [first, , , , , , last] = nodes as [HeapNode, ...HeapNode[]];
    if (last === undefined) throw new Error("there are seven");
    last.atMs = 0;
    heap.update(last);
    expect(heap.peek()).toBe(last);
    first.atMs = 99;
    heap.update(first);
    expect(drain(heap).map((each) => each.atMs)).toEqual([0, 2, 3, 4, 5, 6, 99]);
  });

  it("answers like a sorted list, whatever is pushed, removed and changed", () => {
    const key = fc.record({ atMs: fc.nat(9), seq: fc.nat(9) });
    const command = fc.oneof(
      { weight: 3, arbitrary: key.map((at) => ({ kind: "push" as const, ...at })) },
      { weight: 2, arbitrary: fc.nat(50).map((which) => ({ kind: "remove" as const, which })) },
      {
        weight: 2,
        arbitrary: fc.record({ kind: fc.constant("update" as const), which: fc.nat(50), at: key }),
      },
    );
    fc.assert(
      fc.property(fc.array(command, { maxLength: 60, size: "max" }), (commands) => {
        const heap = heapOf();
        let nodes: HeapNode[] = [];
        for (const step of commands) {
          const chosen = "which" in step ? nodes[step.which % Math.max(1, nodes.length)] : undefined;
          if (step.kind === "push") {
            const pushed = node(step.atMs, step.seq);
            nodes.push(pushed);
            heap.push(pushed);
          } else if (chosen !== undefined && step.kind === "remove") {
            nodes = nodes.filter((other) => other !== chosen);
            heap.remove(chosen);
          } else if (chosen !== undefined && step.kind === "update") {
            Object.assign(chosen, step.at);
            heap.update(chosen);
          }
          const sorted = [...nodes].sort(byKey);
          expect(heap.size).toBe(nodes.length);
          expect(heap.peek()?.atMs).toBe(sorted[0]?.atMs);
          expect(heap.peek()?.seq).toBe(sorted[0]?.seq);
        }
        const keys = (list: HeapNode[]) => list.map(({ atMs, seq }) => [atMs, seq]);
        expect(keys(drain(heap))).toEqual(keys(nodes.sort(byKey)));
      }),
      { numRuns: 300 },
    );
  });
});

describe("inOrder", () => {
  const nodes = [5, 3, 8, 1, 9, 2, 7].map((atMs) => node(atMs));
  const heap = heapOf(...nodes);

  it("goes through every node in order and changes nothing", () => {
    expect([...heap.inOrder()].map(({ atMs }) => atMs)).toEqual([1, 2, 3, 5, 7, 8, 9]);
    expect(new Set(heap.inOrder())).toEqual(new Set(nodes));
    expect(heap.size).toBe(7);
  });

  it("orders equal times by sequence", () => {
    const equal = heapOf(node(1, 3), node(1, 1), node(1, 2));
    expect([...equal.inOrder()].map(({ seq }) => seq)).toEqual([1, 2, 3]);
  });

  it("inOrder of an empty heap is nothing", () => {
    expect([...heapOf().inOrder()]).toEqual([]);
  });
});
