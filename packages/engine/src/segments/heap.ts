/** Node of a heap, ordered by time first, then sequence, so that equal times keep the order of sending. */
export interface HeapNode {
  atMs: number;
  seq: number;
  /** Position in its heap, -1 while it is in none. Owned by the heap. */
  at: number;
}

/**
 * A binary heap of nodes by (atMs, seq). Nodes hold their position, so a message that leaves early (acked, purged) is
 * taken out in O(log n), and the heap holds no stale nodes.
 */
export class TimeHeap<Node extends HeapNode> {
  readonly #nodes: Node[] = [];

  get size(): number {
    return this.#nodes.length;
  }

  peek(): Node | undefined {
    return this.#nodes[0];
  }

  push(node: Node): void {
    if (node.at !== -1) throw new Error("the node is in a heap already");
    node.at = this.#nodes.length;
    this.#nodes.push(node);
    this.#up(node);
  }

  /** Takes a node out; one that is in no heap is left alone. */
  remove(node: Node): void {
    if (node.at === -1) return;
    const last = this.#nodes.pop() as Node; // node.at !== -1 proves that the heap is not empty
    if (last !== node) {
      last.at = node.at;
      this.#nodes[last.at] = last;
      this.update(last);
    }
    node.at = -1;
  }

  /** Restores the order after a node's key has changed. */
  update(node: Node): void {
    this.#up(node);
    this.#down(node);
  }

  /** The nodes in order. The heap must not change meanwhile. Costs O(k log k) for the k first ones. */
  *inOrder(): Generator<Node, undefined> {
    const frontier = new TimeHeap<HeapNode & { index: number }>();
    const enqueue = (index: number) => {
      const node = this.#nodes[index];
      if (node !== undefined) frontier.push({ atMs: node.atMs, seq: node.seq, at: -1, index });
    };
    enqueue(0);
    for (let next = frontier.peek(); next !== undefined; next = frontier.peek()) {
      frontier.remove(next);
      yield this.#nodes[next.index] as Node; // only indexes of existing nodes are enqueued
      enqueue(2 * next.index + 1);
      enqueue(2 * next.index + 2);
    }
  }

  #up(node: Node): void {
    const nodes = this.#nodes;
    while (node.at > 0) {
      const parentAt = (node.at - 1) >> 1;
      const parent = nodes[parentAt] as Node; // parentAt < node.at < length
      if (!isBefore(node, parent)) return;
      nodes[node.at] = parent;
      parent.at = node.at;
      nodes[parentAt] = node;
      node.at = parentAt;
    }
  }

  #down(node: Node): void {
    const nodes = this.#nodes;
    for (;;) {
      const leftAt = 2 * node.at + 1;
      const left = nodes[leftAt];
      if (left === undefined) return;
      const right = nodes[leftAt + 1];
      const child = right !== undefined && isBefore(right, left) ? right : left;
      if (!isBefore(child, node)) return;
      const childAt = child.at;
      nodes[node.at] = child;
      child.at = node.at;
      nodes[childAt] = node;
      node.at = childAt;
    }
  }
}

/** Whether a leaves before b. */
export function isBefore(a: { atMs: number; seq: number }, b: { atMs: number; seq: number }): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.seq < b.seq);
}
