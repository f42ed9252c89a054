import { useEffect, useRef, useState } from "preact/hooks";
import { apiPath, call, type FiguresView, type QueueView, type TopicView } from "../api/call.ts";
import { withFigures } from "../api/figures.ts";
import { queueLink, topicLink } from "../api/route.ts";
import { useNotices } from "../api/use-feed.ts";
import { useLive } from "../api/use-live.ts";
import { CostCard } from "../cost/cost-card.tsx";
import { useNow } from "../development/use-now.ts";
import { Page } from "../page/page.tsx";
import { Table } from "../ui/table.tsx";
import { QUEUE_COLUMNS, TOPIC_COLUMNS } from "./columns.tsx";
import { QueueMap } from "./map.tsx";
import { Rates } from "./rates.ts";

interface QueuesAndTopics {
  readonly queues: readonly QueueView[];
  readonly topics: readonly TopicView[];
}

/** Shortest time between two requests for all queues, in ms. The feed brings counts in between. */
const PERIOD_MS = 5_000;
/** Time of the queues until one has answered. */
const BEFORE_ALL = new Date(0).toISOString();

/** Every queue and every topic. */
export function Overview() {
  const { live, refresh } = useLive(
    "overview",
    async (): Promise<QueuesAndTopics> => {
      const [{ queues }, { topics }] = await Promise.all([
        call<{ queues: QueueView[] }>("/queues"),
        call<{ topics: TopicView[] }>("/topics"),
      ]);
      return { queues, topics };
    },
    PERIOD_MS,
  );
  return (
    <Page title="Queues" isFirst live={live} refresh={refresh}>
      {(answer) => <Shown {...answer} refresh={refresh} />}
    </Page>
  );
}

function Shown({ queues: answered, topics, refresh }: QueuesAndTopics & { readonly refresh: () => void }) {
  const [name, setName] = useState("");
  const rates = useRef(new Rates());
  const [, redraw] = useState(0);
  const figures = useRef(new Map<string, FiguresView>());
  useNotices((notice) => {
    if (notice.kind === "ask") return;
    for (const queue of notice.frame.queues) {
      figures.current.set(queue.name, queue);
      rates.current.add(queue.name, queue, performance.now());
    }
    for (const gone of notice.frame.gone) figures.current.delete(gone);
    redraw((frames) => frames + 1);
  });
  // A rate falls to zero without a notice.
  useEffect(() => {
    const timer = setInterval(() => redraw((frames) => frames + 1), 1_000);
    return () => clearInterval(timer);
  }, []);
  // The feed sends nothing of topics.
  const hasTopics = topics.length > 0;
  useEffect(() => {
    if (!hasTopics) return;
    const timer = setInterval(() => document.hidden || refresh(), PERIOD_MS);
    return () => clearInterval(timer);
  }, [hasTopics]);
  const fresh = answered.map((queue) => withFigures(queue, figures.current.get(queue.name)));
  const now = useNow(
    fresh
      .map((queue) => queue.now)
      .sort()
      .at(-1) ?? BEFORE_ALL,
  );
  const queues = fresh.map((queue) => ({ ...queue, now }));
  const fits = (of: { readonly name: string }) => of.name.toLowerCase().includes(name.trim().toLowerCase());
  const shownQueues = queues.filter(fits);
  const shownTopics = topics.filter(fits);
  const [queue] = shownQueues;
  const [topic] = shownTopics;
  const first =
    queue !== undefined ? queueLink(queue.name) : topic !== undefined ? topicLink(topic.arn) : null;
  if (queues.length + topics.length === 0) return <NoQueues />;
  return (
    <>
      {queues.length + topics.length < 2 ? null : (
        <search>
          <form
            onSubmit={(event) => {
              event.preventDefault();
              if (first !== null) location.assign(first);
            }}
          >
            <label for="find" class="hidden">
              Find a queue or a topic
            </label>
            <input
              id="find"
              type="search"
              placeholder="Show queues and topics with this in their names, Enter opens the first"
              value={name}
              onInput={(event) => setName(event.currentTarget.value)}
            />
          </form>
        </search>
      )}
      {shownQueues.length + shownTopics.length === 0 ? (
        <p class="card empty">
          No queue and no topic has <code>{name.trim()}</code> in its name.
        </p>
      ) : null}
      <QueueMap
        queues={shownQueues}
        topics={shownTopics}
        rateOf={(queue, carries) => rates.current.of(queue, carries, performance.now())}
      />
      {shownQueues.length === 0 ? null : (
        <Table label="All queues" columns={QUEUE_COLUMNS} rows={shownQueues} rowKey={({ id }) => id} />
      )}
      {shownTopics.length === 0 ? null : (
        <Table label="Topics" columns={TOPIC_COLUMNS} rows={shownTopics} rowKey={({ arn }) => arn} />
      )}
      <CostCard queues={queues} />
      <footer>
        The same as JSON: <a href={apiPath("/queues")}>{apiPath("/queues")}</a>,{" "}
        <a href={apiPath("/topics")}>{apiPath("/topics")}</a>
      </footer>
    </>
  );
}

/** Shows the ways to create a first queue: a configuration, a command, a client of SQS. */
function NoQueues() {
  return (
    <div class="card empty">
      <p>There is no queue yet. One is made by the configuration of a Worker:</p>
      <pre>{`[[queues.producers]]
binding = "ORDERS"
queue = "orders"

[[queues.consumers]]
queue = "orders"`}</pre>
      <p>by a command:</p>
      <pre>npx sluice queues create orders</pre>
      <p>
        or by a client of SQS that calls <code>CreateQueue</code>.
      </p>
    </div>
  );
}
