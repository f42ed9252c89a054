import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import {
  allQueues,
  apiPath,
  call,
  type FiguresView,
  ifAllowed,
  type QueueView,
  type TopicView,
} from "../api/call.ts";
import { withFigures } from "../api/figures.ts";
import { queueLink, topicLink } from "../api/route.ts";
import { useNotices } from "../api/use-feed.ts";
import { useLive } from "../api/use-live.ts";
import { CostCard } from "../cost/cost-card.tsx";
import { useNow } from "../development/use-now.ts";
import { Page } from "../page/page.tsx";
import { Table } from "../ui/table.tsx";
import { TOPIC_COLUMNS } from "./columns.tsx";
import { QueueMap } from "./map.tsx";
import { MAP_QUEUES_MAX } from "./map-layout.ts";
import { QueueTable } from "./queue-table.tsx";
import { QueueTotals } from "./queue-totals.tsx";
import { byTrouble, othersText, type StateFilter } from "./trouble.ts";

interface QueuesAndTopics {
  readonly queues: readonly QueueView[];
  readonly topics: readonly TopicView[];
}

/** Shortest time between two requests for all queues, in ms. The feed brings counts in between. */
const PERIOD_MS = 5_000;
/** Time of the queues until one has answered. */
const BEFORE_ALL = new Date(0).toISOString();
/** Queues that the feed watches. It brings nothing of further ones. */
const WATCHED_MAX = 100;
/** Age at which the rates of a frame are too old, in ms: a rate falls to zero without a frame. */
const RATES_MS = 5_000;

/** Every queue and every topic. */
export function Overview() {
  const { live, refresh, renew } = useLive(
    "overview",
    async (): Promise<QueuesAndTopics> => {
      const [{ queues }, known] = await Promise.all([
        allQueues(),
        // A token for some queues may not read topics.
        ifAllowed(call<{ topics: TopicView[] }>("/topics")),
      ]);
      return { queues, topics: known?.topics ?? [] };
    },
    PERIOD_MS,
  );
  return (
    <Page title="Queues" isFirst live={live} refresh={refresh}>
      {(answer) => <Shown {...answer} refresh={refresh} renew={renew} />}
    </Page>
  );
}

interface ShownProps extends QueuesAndTopics {
  readonly refresh: () => void;
  readonly renew: () => void;
}

function Shown({ queues: answered, topics, refresh, renew }: ShownProps) {
  const [name, setName] = useState("");
  const [state, setState] = useState<StateFilter>("all");
  const [, redraw] = useState(0);
  const figures = useRef(new Map<string, FiguresView & { readonly atMs: number }>());
  useNotices((notice) => {
    // `useLive` does that.
    if (notice.kind === "ask") return;
    for (const queue of notice.frame.queues) {
      figures.current.set(queue.name, { ...queue, atMs: performance.now() });
    }
    for (const gone of notice.frame.gone) figures.current.delete(gone);
    redraw((frames) => frames + 1);
  });
  // The first answer may have queues as they were some seconds ago.
  useEffect(refresh, []);
  // A rate falls to zero without a frame.
  useEffect(() => {
    const timer = setInterval(() => redraw((frames) => frames + 1), 1_000);
    return () => clearInterval(timer);
  }, []);
  // The feed sends nothing of topics, nor of more queues than it watches.
  const hasMore = topics.length > 0 || answered.length > WATCHED_MAX;
  useEffect(() => {
    if (!hasMore) return;
    const timer = setInterval(renew, PERIOD_MS);
    return () => clearInterval(timer);
  }, [hasMore]);
  const fresh = answered.map((queue) => withRates(queue, figures.current.get(queue.name)));
  const times = fresh.map((queue) => queue.now);
  const now = useNow(times.sort().at(-1) ?? BEFORE_ALL);
  const queues = fresh.map((queue) => ({ ...queue, now }));
  // Not with every frame: rows would move while they are read.
  const worst = useMemo(() => byTrouble(answered), [answered]);
  const fits = (of: { readonly name: string }) => of.name.toLowerCase().includes(name.trim().toLowerCase());
  const shownQueues = queues.filter(fits);
  const shownTopics = topics.filter(fits);
  const [queue] = shownQueues;
  const [topic] = shownTopics;
  /** Page that Enter opens in the search. */
  const first =
    queue !== undefined ? queueLink(queue.name) : topic !== undefined ? topicLink(topic.arn) : null;
  if (queues.length + topics.length === 0) return <NoQueues />;
  const byName = new Map(shownQueues.map((each) => [each.name, each]));
  const ranked = worst.flatMap((each) => byName.get(each) ?? []);
  const isMany = ranked.length > MAP_QUEUES_MAX;
  const mapped = isMany ? ranked.slice(0, MAP_QUEUES_MAX) : shownQueues;
  const map = (
    <QueueMap
      key="map"
      queues={mapped}
      topics={shownTopics}
      others={isMany ? `${othersText(ranked.slice(MAP_QUEUES_MAX))}.` : ""}
      rateOf={(of, carries) => byName.get(of)?.rates?.[carries] ?? null}
    />
  );
  const table =
    ranked.length === 0 ? null : <QueueTable key="table" queues={ranked} state={state} setState={setState} />;
  return (
    <>
      <QueueTotals queues={queues} setState={setState} />
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
              placeholder="Names with this in them"
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
      {isMany ? table : map}
      {isMany ? map : table}
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

/** Puts the latest figures of the feed into a queue's answer. Rates of a frame that is too old are 0. */
function withRates(
  queue: QueueView,
  figures: (FiguresView & { readonly atMs: number }) | undefined,
): QueueView {
  if (figures === undefined) return queue;
  const isOver = performance.now() - figures.atMs > RATES_MS;
  const rates = figures.rates !== null && isOver ? { in: 0, out: 0, dead: 0 } : figures.rates;
  return { ...withFigures(queue, figures), rates };
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
