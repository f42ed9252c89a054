import { useMemo } from "preact/hooks";
import type { QueueView, TopicView } from "../api/call.ts";
import { queueLink, topicLink } from "../api/route.ts";
import { stateOfQueue } from "../text/delivery-state.ts";
import { rateText } from "../text/format.ts";
import { Scrolled } from "../ui/scrolled.tsx";
import { layOutMap, type MapEdge, type MapNode, type Point } from "./map-layout.ts";

/** Letters of a name that fit into a node. */
const NAME_LENGTH_MAX = 16;

/** How far a line to a queue of the same column goes out. */
const AROUND = 34;
/**
 * Part of a line, or of what comes after its straight part, at which its rate stands: the rates of lines that leave one
 * queue are apart.
 */
const LABEL_AT = { in: 0.5, out: 0.36, dead: 0.5, together: 0.72 } as const;

interface MapProps {
  readonly queues: readonly QueueView[];
  readonly topics: readonly TopicView[];
  /** Text about the queues that are not shown; empty if there are none. */
  readonly others: string;
  /** Messages a second that go along an edge; `null` where that is not known. */
  readonly rateOf: (queue: string, carries: MapEdge["carries"]) => number | null;
}

/** Draws the ways of messages from senders to consumers and dead-letter queues, as the table below says in words. */
export function QueueMap({ queues, topics, others, rateOf }: MapProps) {
  // Counts change all the time, edges hardly ever.
  const shape = JSON.stringify([
    queues.map(({ name, producers, buckets, consumer, redrive, topics: sources }) => [
      name,
      producers,
      buckets,
      consumer,
      redrive,
      sources,
    ]),
    topics.map(({ arn }) => arn),
  ]);
  const map = useMemo(() => layOutMap(queues, topics), [shape]);
  const current = new Map(queues.map((queue) => [queue.name, queue]));
  if (map.edges.length === 0) return null;
  return (
    <section class="card map" aria-label="Map">
      <header>
        <h2>Map</h2>
        <span class="quiet broad">{others} Messages a second stand at the lines.</span>
        <span class="quiet narrow">
          It needs a wider screen. The list has all of it: of each queue its senders, its consumer, where its
          dead letters go, and messages a second.
        </span>
      </header>
      <Scrolled class="scroll" label="Map of queues">
        <svg width={map.width} height={map.height} viewBox={`0 0 ${map.width} ${map.height}`}>
          <title>Senders, queues, consumers, dead-letter queues</title>
          {map.edges.map((edge) => (
            <Edge key={edge.key} edge={edge} rate={rateOf(edge.queue, edge.carries)} />
          ))}
          {map.nodes.map((node) => (
            <Node key={node.key} node={node} queue={current.get(node.queue?.name ?? "") ?? null} />
          ))}
        </svg>
      </Scrolled>
    </section>
  );
}

function Edge({
  edge: { from, to, lane, carries, shared },
  rate,
}: {
  readonly edge: MapEdge;
  readonly rate: number | null;
}) {
  const isAround = to.x <= from.x;
  const [first, begin] = lane ?? [to, from];
  const path = `M${from.x} ${from.y}${curve(from, first)}${lane ? `H${begin.x}${curve(begin, to)}` : ""}`;
  const labelAt = LABEL_AT[shared === null ? carries : "together"];
  const labelY = isAround ? (from.y + to.y) / 2 + 4 : begin.y + (to.y - begin.y) * bendOf(labelAt) - 4;
  const isBusy = rate !== null && rate > 0;
  return (
    <g class={`edge ${carries}${isBusy ? " busy" : ""}`}>
      <path d={path} />
      {isBusy && shared !== "other" ? (
        <text x={isAround ? from.x + AROUND : begin.x + (to.x - begin.x) * labelAt} y={labelY}>
          {rateText(rate)}
          {shared === null ? "" : " in all"}
        </text>
      ) : null}
    </g>
  );
}

/** Curve to a point, which goes around the right side of what is not to the right. */
function curve(from: Point, to: Point): string {
  const isAround = to.x <= from.x;
  const bend = isAround ? AROUND : (to.x - from.x) / 2;
  return `C${from.x + bend} ${from.y} ${to.x + (isAround ? AROUND : -bend)} ${to.y} ${to.x} ${to.y}`;
}

/** Part of its height that a line has covered at a part of its width: it is a cubic curve. */
function bendOf(part: number): number {
  return part * part * (3 - 2 * part);
}

function Node({ node, queue }: { readonly node: MapNode; readonly queue: QueueView | null }) {
  const { kind, name, topicArn, x, y, width, height } = node;
  const { tone, detail } = queue === null ? NO_STATE : stateOfQueue(queue);
  const href = queue !== null ? queueLink(name) : topicArn !== null ? topicLink(topicArn) : null;
  const body = (
    <>
      {detail === "" ? null : <title>{detail}</title>}
      <rect x={x} y={y} width={width} height={height} rx={6} />
      <text class="name" x={x + 10} y={y + 17}>
        {name.length > NAME_LENGTH_MAX ? `${name.slice(0, NAME_LENGTH_MAX - 1)}…` : name}
      </text>{" "}
      <text class="detail" x={x + 10} y={y + 32}>
        {queue === null ? (WORDS[kind] ?? kind) : detailOf(queue)}
      </text>
      {queue === null ? null : <circle class={tone} cx={x + width - 12} cy={y + 13} r={4} />}
    </>
  );
  return href === null ? (
    <g class={`node ${kind}`}>{body}</g>
  ) : (
    <a class={`node ${kind}`} href={href}>
      {body}
    </a>
  );
}

const NO_STATE = { tone: "quiet", detail: "" } as const;
const WORDS: Partial<Record<MapNode["kind"], string>> = {
  sender: "sends messages",
  consumer: "gets messages",
};

function detailOf(queue: QueueView): string {
  const { ready, delayed, leased } = queue.messages;
  const waiting = ready + delayed;
  const { word } = stateOfQueue(queue);
  const counts = waiting + leased === 0 ? "empty" : `${waiting.toLocaleString("en")} wait`;
  return word === "–" || word === "OK" || word === "Idle" ? counts : `${counts}, ${word.toLowerCase()}`;
}
