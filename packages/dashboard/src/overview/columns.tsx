import { plural, size, span } from "@sluice/protocol/words";
import type { QueueView, TopicView } from "../api/call.ts";
import { queueLink, topicLink } from "../api/route.ts";
import { consumerName } from "../text/consumer-name.ts";
import { stateOfQueue } from "../text/delivery-state.ts";
import { rateText } from "../text/format.ts";
import { Status } from "../ui/status.tsx";
import { type Column, Count, Names, None } from "../ui/table.tsx";
import { deadLetterQueueOf, sendersTo } from "./map-layout.ts";
import { STATES, troubleOf } from "./trouble.ts";

/** Length of a queue's name that still stands in one line of the table. */
const NAME_LINE_MAX = 24;

export const QUEUE_COLUMNS: readonly Column<QueueView>[] = [
  {
    heading: "Queue",
    by: ({ name }) => name,
    cell: ({ name, kind, damage }) => (
      <>
        <a class={name.length > NAME_LINE_MAX ? "" : "nowrap"} href={queueLink(name)}>
          {name}
        </a>
        {kind === "fifo" && !name.endsWith(".fifo") ? <span class="tag">FIFO</span> : null}
        {damage.length > 0 ? <span class="pill bad">Damaged</span> : null}
      </>
    ),
  },
  {
    heading: "Ready",
    isNumber: true,
    by: ({ messages }) => messages.ready,
    cell: ({ messages }) => <Count of={messages.ready} />,
  },
  {
    heading: "Delayed",
    isNumber: true,
    by: ({ messages }) => messages.delayed,
    cell: ({ messages }) => <Count of={messages.delayed} />,
  },
  {
    heading: "Leased",
    isNumber: true,
    by: ({ messages }) => messages.leased,
    cell: ({ messages }) => <Count of={messages.leased} />,
  },
  {
    heading: "Backlog",
    isNumber: true,
    by: ({ backlogBytes }) => backlogBytes,
    cell: ({ backlogBytes }) => <span class="quiet">{size(backlogBytes)}</span>,
  },
  {
    heading: "Oldest",
    isNumber: true,
    by: ({ oldestMessageAt, now }) =>
      oldestMessageAt === null ? -1 : Date.parse(now) - Date.parse(oldestMessageAt),
    cell: ({ oldestMessageAt, now }) => (
      <span class="quiet">
        {oldestMessageAt === null ? "–" : span(Date.parse(now) - Date.parse(oldestMessageAt))}
      </span>
    ),
  },
  {
    heading: "Delivery",
    isWide: true,
    by: (queue) => String(STATES.indexOf(troubleOf(queue))),
    cell: (queue) => <Status {...stateOfQueue(queue)} />,
  },
  {
    heading: "Consumer",
    isWide: true,
    cell: (queue) => <span class={queue.consumer === null ? "quiet" : "break"}>{consumerName(queue)}</span>,
  },
  {
    heading: "Messages a second",
    isWide: true,
    // On a wide screen the map has it.
    isNarrow: true,
    cell: ({ rates }) => <Names of={ratesOf(rates)} />,
  },
  { heading: "Senders", isWide: true, cell: (queue) => <Names of={senders(queue)} /> },
  {
    heading: "Dead letters to",
    isWide: true,
    cell: (queue) => {
      const name = deadLetterQueueOf(queue);
      return <Names of={name === null ? [] : [<a href={queueLink(name)}>{name}</a>]} />;
    },
  },
];

export const TOPIC_COLUMNS: readonly Column<TopicView>[] = [
  {
    heading: "Topic",
    cell: ({ arn, name }) => (
      <a href={topicLink(arn)} title={arn}>
        {name}
      </a>
    ),
  },
  { heading: "Kind", cell: ({ kind }) => (kind === "fifo" ? "FIFO" : "Standard") },
  {
    heading: "Confirmed",
    isNumber: true,
    cell: ({ subscriptions }) => <Count of={subscriptions.confirmed} />,
  },
  { heading: "Pending", isNumber: true, cell: ({ subscriptions }) => <Count of={subscriptions.pending} /> },
  {
    heading: "Waiting for endpoints",
    isNumber: true,
    cell: ({ endpoints }) => (endpoints === null ? <None /> : <Count of={endpoints.waiting} />),
  },
  { heading: "Endpoints", isWide: true, cell: (topic) => <Status {...stateOfTopic(topic)} /> },
];

/** Puts the rates of a queue into words: `1.2/s in`. */
function ratesOf(rates: QueueView["rates"]): string[] {
  return (["in", "out", "dead"] as const).flatMap((way) =>
    rates === null || rates[way] === 0 ? [] : `${rateText(rates[way])} ${way}`,
  );
}

function senders(queue: QueueView) {
  return [
    ...sendersTo(queue).map((name) => <span key={name}>{name}</span>),
    ...queue.topics.map((arn) => (
      <a key={arn} href={topicLink(arn)}>
        {arn.split(":").at(-1)}
      </a>
    )),
  ];
}

function stateOfTopic({ endpoints }: TopicView) {
  if (endpoints === null)
    return { tone: "quiet", word: "Many", detail: "each is on the topic's page" } as const;
  if (endpoints.failing === 0) return { tone: "quiet", word: "–", detail: "" } as const;
  return { tone: "bad", word: "Failing", detail: plural(endpoints.failing, "endpoint") } as const;
}
