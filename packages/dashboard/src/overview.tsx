import { call, type QueueView, type TopicView } from "./api.ts";
import { consumerName } from "./delivery/consumer-name.ts";
import { stateOfQueue } from "./delivery/delivery-state.ts";
import { Status } from "./delivery/status.tsx";
import { plural, size, span } from "./format.ts";
import { Page } from "./page.tsx";
import { queueLink, topicLink } from "./route.ts";
import { type Column, Count, Names, None, Table } from "./table.tsx";
import { useLive } from "./use-live.ts";

const QUEUE_COLUMNS: readonly Column<QueueView>[] = [
  {
    heading: "Queue",
    cell: ({ name, kind, damage }) => (
      <>
        <a href={queueLink(name)}>{name}</a>
        {kind === "fifo" && !name.endsWith(".fifo") ? <span class="tag">FIFO</span> : null}
        {damage.length > 0 ? <span class="pill bad">Damaged</span> : null}
      </>
    ),
  },
  { heading: "Ready", isNumber: true, cell: ({ messages }) => <Count of={messages.ready} /> },
  { heading: "Delayed", isNumber: true, cell: ({ messages }) => <Count of={messages.delayed} /> },
  { heading: "Leased", isNumber: true, cell: ({ messages }) => <Count of={messages.leased} /> },
  {
    heading: "Backlog",
    isNumber: true,
    cell: ({ backlogBytes }) => <span class="quiet">{size(backlogBytes)}</span>,
  },
  {
    heading: "Oldest",
    isNumber: true,
    cell: ({ oldestMessageAt, now }) => (
      <span class="quiet">
        {oldestMessageAt === null ? "–" : span(Date.parse(now) - Date.parse(oldestMessageAt))}
      </span>
    ),
  },
  { heading: "Delivery", isWide: true, cell: (queue) => <Status {...stateOfQueue(queue)} /> },
  {
    heading: "Consumer",
    isWide: true,
    cell: (queue) => <span class={queue.consumer === null ? "quiet" : "break"}>{consumerName(queue)}</span>,
  },
  { heading: "Senders", isWide: true, cell: (queue) => <Names of={senders(queue)} /> },
  {
    heading: "Dead letters to",
    isWide: true,
    cell: (queue) => {
      const name = queue.consumer?.settings.deadLetterQueue ?? queue.redrive?.deadLetterQueue ?? null;
      return <Names of={name === null ? [] : [<a href={queueLink(name)}>{name}</a>]} />;
    },
  },
];

const TOPIC_COLUMNS: readonly Column<TopicView>[] = [
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

/** Every queue and every topic. */
export function Overview() {
  const { live, refresh } = useLive("overview", async () => {
    const [{ queues }, { topics }] = await Promise.all([
      call<{ queues: QueueView[] }>("/queues"),
      call<{ topics: TopicView[] }>("/topics"),
    ]);
    return { queues, topics };
  });
  return (
    <Page title="Queues" live={live} refresh={refresh}>
      {({ queues, topics }) => (
        <>
          {queues.length === 0 ? (
            <p class="card empty">
              No queue is configured. One is made by a Worker's <code>wrangler.toml</code>, by{" "}
              <code>wrangler queues create</code>, or by <code>CreateQueue</code> of SQS.
            </p>
          ) : (
            <Table label="Queues" columns={QUEUE_COLUMNS} rows={queues} rowKey={({ id }) => id} />
          )}
          {topics.length === 0 ? null : (
            <>
              <h2>Topics</h2>
              <Table label="Topics" columns={TOPIC_COLUMNS} rows={topics} rowKey={({ arn }) => arn} />
            </>
          )}
          <footer>
            The same as JSON: <a href="/__sluice/api/queues">/__sluice/api/queues</a>,{" "}
            <a href="/__sluice/api/topics">/__sluice/api/topics</a>
          </footer>
        </>
      )}
    </Page>
  );
}

function senders({ producers, topics }: QueueView) {
  const workers = [...new Set(producers.map(({ worker }) => worker))];
  return [
    ...workers.map((worker) => <span key={worker}>{worker}</span>),
    ...topics.map((arn) => (
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
