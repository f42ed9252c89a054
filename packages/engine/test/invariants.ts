import { TAIL_BYTES_MAX, TAIL_BYTES_PER_MESSAGE, TAILS_MAX } from "../src/commands/send.ts";
import type { Queue } from "../src/queue/queue.ts";
import { type HeapNode, isBefore, type TimeHeap } from "../src/segments/heap.ts";
import { Entry, Group, type Segment, type SegmentNode } from "../src/segments/segment.ts";

/**
 * Everything that must hold inside a queue between two commands, whatever happened before. Each state is kept three
 * times (cursors and entries, heaps, counters); this is what says that the three agree.
 *
 * Throws on the first thing that does not hold. Not `expect`: it runs after each of millions of commands.
 */
export function checkInvariants(queue: Queue): void {
  queue.order?.sortGroups(queue);
  const ready = nodesOf<Entry | SegmentNode | Group>(queue.ready, "ready");
  const delayed = nodesOf(queue.delayed, "delayed");
  const leased = nodesOf<Entry>(queue.leased, "leased");
  const sum = { ready: 0, delayed: 0, leased: 0, bytes: 0, nodes: 0 };
  const seqs = new Set<number>();
  let lastId = -1;
  for (const [id, segment] of queue.segments) {
    must(id === segment.id && id > lastId, () => `segment ${id} follows ${lastId}`);
    must(id < queue.nextSegmentId, () => `the next segment id is that of segment ${id}`);
    lastId = id;
    checkRuns(segment);
    checkRanges(segment);
    for (let i = 0; i < segment.count; i++) {
      must(segment.seqOf(i) < queue.nextSeq, () => `the next sequence number is below that of message ${i}`);
      must(!seqs.has(segment.seqOf(i)), () => `sequence number ${segment.seqOf(i)} is there twice`);
      seqs.add(segment.seqOf(i));
    }
    const { cursor, readyEnd, count, readyNode, delayedNode } = segment;
    const isGrouped = segment.groups !== null;
    must(
      !isGrouped || segment.groups?.length === count,
      () => `segment ${id} has not a group for each message`,
    );
    must(isGrouped || !queue.isFifo, () => `segment ${id} of a FIFO queue has no groups`);
    must(
      ready.has(readyNode) === (cursor < readyEnd && !isGrouped),
      () => `segment ${id} has due messages or a node, not both`,
    );
    must(
      delayed.has(delayedNode) === readyEnd < count,
      () => `segment ${id} has later messages or a node, not both`,
    );
    if (cursor < readyEnd && !isGrouped) checkNode(readyNode, segment, cursor);
    if (readyEnd < count) checkNode(delayedNode, segment, readyEnd);
    sum.nodes += Number(cursor < readyEnd && !isGrouped) + Number(readyEnd < count);
    sum.ready += readyEnd - cursor;
    sum.delayed += count - readyEnd;
    sum.bytes += segment.bytes(cursor, count);
    for (const entry of segment.entries) {
      const heap = { ready, delayed, leased }[entry.state];
      const isInHeap = entry.state !== "ready" || !isGrouped;
      must(
        (heap as Set<HeapNode>).has(entry) === isInHeap,
        () => `an entry that is ${entry.state} is in another heap`,
      );
      sum.nodes += Number(isInHeap);
      sum[entry.state] += entry.count;
      if (entry.state !== "leased") sum.bytes += segment.bytes(entry.from, entry.to);
      must(entry.leaseId < queue.nextLeaseId, () => `lease ${entry.leaseId} was never given`);
    }
  }
  const groupNodes = [...ready].filter((node) => node instanceof Group);
  must(
    sum.nodes === ready.size - groupNodes.length + delayed.size + leased.size,
    "a heap holds a node of nothing",
  );
  for (const group of groupNodes) {
    must(queue.order?.groups.get(group.id) === group, () => `group ${group.id} is ready and not known`);
  }
  checkGroups(queue);
  must(sum.ready === queue.readyCount, () => `${queue.readyCount} ready, counted ${sum.ready}`);
  must(sum.delayed === queue.delayedCount, () => `${queue.delayedCount} delayed, counted ${sum.delayed}`);
  must(sum.leased === queue.leasedCount, () => `${queue.leasedCount} leased, counted ${sum.leased}`);
  must(sum.bytes === queue.waitingBytes, () => `${queue.waitingBytes} bytes wait, counted ${sum.bytes}`);
  checkTails(queue);
}

function checkRuns({ id, runs, count }: Segment): void {
  must(runs.length > 0 && runs.from(0) === 0, () => `segment ${id} does not begin with a run`);
  for (let r = 0; r < runs.length; r++) {
    must(runs.from(r) < count, () => `run ${r} begins behind the ${count} messages of segment ${id}`);
    must(Number.isFinite(runs.dueMs(r)) && Number.isFinite(runs.acceptedMs(r)), () => `run ${r} has no time`);
    if (r === 0) continue;
    must(runs.from(r - 1) < runs.from(r), () => `run ${r} of segment ${id} is empty`);
    must(runs.dueMs(r - 1) <= runs.dueMs(r), () => `run ${r} of segment ${id} is due before its predecessor`);
  }
}

function checkRanges(segment: Segment): void {
  const { id, cursor, readyEnd, count, entries, remaining } = segment;
  must(
    0 <= cursor && cursor <= readyEnd && readyEnd <= count,
    () => `cursor ${cursor}, ${readyEnd} of ${count}`,
  );
  let end = 0;
  let touched = 0;
  for (const entry of entries) {
    must(entry.segment === segment, () => `an entry of segment ${entry.segment.id} is in segment ${id}`);
    must(end <= entry.from && entry.from < entry.to, () => `entry [${entry.from}, ${entry.to}) after ${end}`);
    must(entry.to <= cursor, () => `entry [${entry.from}, ${entry.to}) is behind the cursor ${cursor}`);
    must(
      entry.seq === segment.seqOf(entry.from),
      () => `an entry has the sequence number of another message`,
    );
    must(Number.isFinite(entry.atMs), () => `entry [${entry.from}, ${entry.to}) has no time`);
    const attemptsMin = entry.state === "leased" ? 1 : 0;
    must(entry.attempts >= attemptsMin, () => `${entry.attempts} attempts, ${entry.state}`);
    end = entry.to;
    touched += entry.count;
  }
  must(remaining === count - cursor + touched, () => `${remaining} messages remain in segment ${id}`);
  must(remaining > 0, () => `segment ${id} is empty and not gone`);
}

function checkNode(node: SegmentNode, segment: Segment, i: number): void {
  must(node.segment === segment, "a node stands for another segment");
  must(
    node.atMs === segment.dueOf(i),
    () => `a node is due at ${node.atMs}, its message at ${segment.dueOf(i)}`,
  );
  must(
    node.seq === segment.seqOf(i),
    () => `a node has sequence number ${node.seq}, not ${segment.seqOf(i)}`,
  );
}

/** Groups know the messages that there are: all of a FIFO queue, those that are ready of another one. */
function checkGroups(queue: Queue): void {
  const expected = new Map<Group, { remaining: number; inFlight: number; listed: Set<string> }>();
  for (const segment of queue.segments.values()) {
    for (const [i, group] of (segment.groups ?? []).entries()) {
      const entry = segment.entryOf(i);
      if (entry === null && i < segment.cursor) continue;
      must(queue.order?.groups.get(group.id) === group, () => `group ${group.id} of a message is not known`);
      const sums = expected.get(group) ?? { remaining: 0, inFlight: 0, listed: new Set<string>() };
      expected.set(group, sums);
      sums.remaining += 1;
      sums.inFlight += Number(entry?.state === "leased");
      const isReady = entry === null ? i < segment.readyEnd : entry.state === "ready";
      if (queue.isFifo || isReady) sums.listed.add(`${segment.id}/${i}`);
    }
  }
  must(expected.size === (queue.order?.groups.size ?? 0), "a group without messages is known");
  for (const [group, { remaining, inFlight, listed }] of expected) {
    must(
      group.remaining === remaining,
      () => `group ${group.id} has ${group.remaining}, counted ${remaining}`,
    );
    must(
      group.inFlight === inFlight,
      () => `group ${group.id}: ${group.inFlight} in flight, counted ${inFlight}`,
    );
    const { messages } = group;
    must(
      messages.length === listed.size,
      () => `group ${group.id} lists ${messages.length} of ${listed.size}`,
    );
    let last = { atMs: -1, seq: -1 };
    for (let place = 0; place < messages.length; place++) {
      const [segment, i] = [messages.segmentAt(place), messages.indexAt(place)];
      must(listed.has(`${segment.id}/${i}`), () => `group ${group.id} lists what is not there`);
      const next = { atMs: messages.timeAt(place), seq: segment.seqOf(i) };
      must(isBefore(last, next), () => `group ${group.id} is out of order at ${place}`);
      last = next;
    }
  }
}

function checkTails(queue: Queue): void {
  must(queue.tails.length <= TAILS_MAX, () => `${queue.tails.length} tails`);
  must(new Set(queue.tails).size === queue.tails.length, "a segment is a tail twice");
  for (const tail of queue.tails) {
    must(queue.segments.get(tail.id) === tail, () => `the tail ${tail.id} is gone`);
    const bytes = tail.bytes(0, tail.count) + TAIL_BYTES_PER_MESSAGE * tail.count;
    must(bytes < TAIL_BYTES_MAX, () => `the tail ${tail.id} is full`);
  }
}

/** The nodes of a heap, after checking that each is where it believes to be and that they are in heap order. */
function nodesOf<Node extends HeapNode>(heap: TimeHeap<Node>, name: string): Set<Node> {
  const byPosition: Node[] = [];
  let last: HeapNode = { atMs: -Infinity, seq: -Infinity, at: -1 };
  for (const node of heap.inOrder()) {
    must(
      !isBefore(node, last),
      () => `${name}: ${node.atMs}/${node.seq} comes after ${last.atMs}/${last.seq}`,
    );
    must(byPosition[node.at] === undefined, () => `${name}: two nodes at position ${node.at}`);
    byPosition[node.at] = node;
    last = node;
  }
  must(
    byPosition.length === heap.size,
    () => `${name}: ${byPosition.length} of ${heap.size} nodes are visited`,
  );
  byPosition.forEach((node, at) => {
    const parent = byPosition[(at - 1) >> 1];
    must(
      at === 0 || (parent !== undefined && !isBefore(node, parent)),
      () => `${name}: position ${at} is no heap`,
    );
  });
  must(byPosition[0] === heap.peek(), () => `${name}: peek answers another node than the first`);
  const nodes = new Set(byPosition);
  must(nodes.size === heap.size, () => `${name}: a node is there twice`);
  for (const node of nodes) {
    must(
      !(node instanceof Entry) || node.segment.entries.includes(node),
      () => `${name}: an entry of no segment`,
    );
  }
  return nodes;
}

/** @param what says what does not hold: made only where it is read, since nearly always everything holds. */
function must(holds: boolean, what: string | (() => string)): void {
  if (!holds) throw new Error(typeof what === "string" ? what : what());
}
