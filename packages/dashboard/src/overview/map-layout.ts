import type { QueueView, TopicView } from "../api/call.ts";
import { consumerName } from "../text/consumer-name.ts";

/** Most queues that the map shows: more are no picture. */
export const MAP_QUEUES_MAX = 24;

const COLUMN_WIDTH = 284;
const NODE_WIDTH = 164;
const NODE_HEIGHT = 40;
const ROW_HEIGHT = 56;
/** Distance from the top of a row to the line between it and the next one, on which no node is. */
const LANE_TOP = 46;
const MARGIN = 8;

export interface MapNode {
  /** Unlike that of any other node. */
  readonly key: string;
  readonly kind: "sender" | "topic" | "queue" | "consumer";
  readonly name: string;
  /** Queue that the node stands for, which has a page; `null` in a node of another kind. */
  readonly queue: QueueView | null;
  readonly topicArn: string | null;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface MapEdge {
  readonly key: string;
  /** The queue whose messages go this way, and which of its figures stands there. */
  readonly queue: string;
  readonly carries: "in" | "out" | "dead";
  /** Place among several edges into the queue, which have one rate together; `null` for a single edge. */
  readonly shared: "first" | "other" | null;
  /** Ends of a curve, in the coordinates of nodes. */
  readonly from: Point;
  readonly to: Point;
  /** Ends of the straight part with which it passes a column between two rows; `null` where it passes none. */
  readonly lane: readonly [Point, Point] | null;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface QueueMap {
  readonly nodes: readonly MapNode[];
  readonly edges: readonly MapEdge[];
  readonly width: number;
  readonly height: number;
}

/** Lays out the map in columns: senders, queues, consumers, dead letters. */
export function layOutMap(shown: readonly QueueView[], topics: readonly TopicView[]): QueueMap {
  const names = new Set(shown.map(({ name }) => name));
  const targets = new Set(
    shown.flatMap((queue) => deadLetterQueueOf(queue) ?? []).filter((name) => names.has(name)),
  );
  // A dead-letter queue with a sender or a consumer of its own is a queue among the others.
  const isLast = (queue: QueueView) =>
    targets.has(queue.name) &&
    sendersTo(queue).length === 0 &&
    queue.topics.length === 0 &&
    queue.consumer === null;
  const middle = shown.filter((queue) => !isLast(queue));
  const last = shown.filter(isLast);
  const rows = new Map(middle.map((queue, row) => [queue.name, row]));

  const nodes = new Map<string, MapNode>();
  const add = (
    column: number,
    row: number,
    node: Pick<MapNode, "key" | "kind" | "name"> & Partial<MapNode>,
  ) => {
    const place = { x: MARGIN + column * COLUMN_WIDTH, y: MARGIN + row * ROW_HEIGHT };
    nodes.set(node.key, {
      queue: null,
      topicArn: null,
      ...node,
      ...place,
      width: NODE_WIDTH,
      height: NODE_HEIGHT,
    });
  };
  for (const [row, queue] of middle.entries()) {
    add(1, row, { key: `queue ${queue.name}`, kind: "queue", name: queue.name, queue });
  }
  placeColumn(sendersOf(middle, topics), rows, (row, { node }) => add(0, row, node));
  placeColumn(consumersOf(middle), rows, (row, { node }) => add(2, row, node));
  const dead = last.map((queue) => ({
    node: { key: `queue ${queue.name}`, kind: "queue" as const, name: queue.name, queue },
    queues: middle.filter((source) => deadLetterQueueOf(source) === queue.name).map(({ name }) => name),
  }));
  placeColumn(dead, rows, (row, { node }) => add(3, row, node));

  const edges = middle.concat(last).flatMap((queue) => edgesOf(queue, nodes));
  const all = [...nodes.values()];
  return {
    nodes: all,
    edges,
    width: Math.max(0, ...all.map(({ x }) => x)) + NODE_WIDTH + MARGIN,
    height: Math.max(0, ...all.map(({ y }) => y)) + NODE_HEIGHT + MARGIN,
  };
}

/** Name of the queue that takes a queue's dead letters; `null` for none. */
export function deadLetterQueueOf({
  consumer,
  redrive,
}: Pick<QueueView, "consumer" | "redrive">): string | null {
  return consumer?.settings.deadLetterQueue ?? redrive?.deadLetterQueue ?? null;
}

interface Beside {
  readonly node: Pick<MapNode, "key" | "kind" | "name"> & Partial<MapNode>;
  /** Queues that the node sends to or consumes from, or whose dead letters it takes. */
  readonly queues: readonly string[];
}

function sendersOf(queues: readonly QueueView[], topics: readonly TopicView[]): Beside[] {
  return [
    ...[...new Set(queues.flatMap(sendersTo))].map((name) => ({
      node: { key: `sender ${name}`, kind: "sender" as const, name },
      queues: queues.filter((queue) => sendersTo(queue).includes(name)).map(named),
    })),
    ...topics.map(({ arn, name }) => ({
      node: { key: `topic ${arn}`, kind: "topic" as const, name, topicArn: arn },
      queues: queues.filter((queue) => queue.topics.includes(arn)).map(named),
    })),
  ];
}

function consumersOf(queues: readonly QueueView[]): Beside[] {
  const names = [...new Set(queues.filter(({ consumer }) => consumer !== null).map(consumerName))];
  return names.map((name) => ({
    node: { key: `consumer ${name}`, kind: "consumer" as const, name },
    queues: queues.filter((queue) => queue.consumer !== null && consumerName(queue) === name).map(named),
  }));
}

/** Names of the Workers that send to a queue, and of R2 buckets: no Worker has a blank in its name. */
export function sendersTo({ producers, buckets }: QueueView): string[] {
  return [...new Set(producers.map(({ worker }) => worker)), ...buckets.map((name) => `R2 ${name}`)];
}

function named({ name }: QueueView): string {
  return name;
}

/** Places each node in the row nearest to the middle of its queues that the nodes above it allow. */
function placeColumn(
  column: readonly Beside[],
  rows: ReadonlyMap<string, number>,
  place: (row: number, item: Beside) => void,
): void {
  const middleOf = ({ queues }: Beside) => {
    const own = queues.flatMap((queue) => rows.get(queue) ?? []);
    return own.length === 0 ? rows.size : own.reduce((sum, row) => sum + row, 0) / own.length;
  };
  let free = 0;
  for (const item of [...column].sort((a, b) => middleOf(a) - middleOf(b))) {
    const row = Math.max(free, Math.round(middleOf(item)));
    place(row, item);
    free = row + 1;
  }
}

function edgesOf(queue: QueueView, nodes: ReadonlyMap<string, MapNode>): MapEdge[] {
  const own = nodes.get(`queue ${queue.name}`);
  if (own === undefined) return [];
  const edge = (carries: MapEdge["carries"], other: MapNode | undefined): Omit<MapEdge, "shared">[] => {
    if (other === undefined) return [];
    const [from, to] = carries === "in" ? [other, own] : [own, other];
    // Two queues of one column are joined around their right side.
    const side = to.x > from.x ? 0 : to.width;
    const y = from.y + from.height * (carries === "dead" ? 0.75 : 0.5);
    const passed = { x: from.x + COLUMN_WIDTH, y: from.y + LANE_TOP };
    return [
      {
        key: `${carries} ${from.key} ${to.key}`,
        queue: queue.name,
        carries,
        from: { x: from.x + from.width, y },
        to: { x: to.x + side, y: to.y + to.height / (carries === "dead" && side > 0 ? 4 : 2) },
        lane: to.x <= passed.x ? null : [passed, { ...passed, x: passed.x + NODE_WIDTH }],
      },
    ];
  };
  const waysIn = [
    ...sendersTo(queue).flatMap((name) => edge("in", nodes.get(`sender ${name}`))),
    ...queue.topics.flatMap((arn) => edge("in", nodes.get(`topic ${arn}`))),
  ].sort((a, b) => a.from.y - b.from.y);
  const others = [
    ...(queue.consumer === null ? [] : edge("out", nodes.get(`consumer ${consumerName(queue)}`))),
    ...edge("dead", nodes.get(`queue ${deadLetterQueueOf(queue)}`)),
  ];
  return [
    ...waysIn.map((way, i): MapEdge => {
      const place = i === 0 ? "first" : "other";
      return { ...way, shared: waysIn.length === 1 ? null : place };
    }),
    ...others.map((way): MapEdge => ({ ...way, shared: null })),
  ];
}
