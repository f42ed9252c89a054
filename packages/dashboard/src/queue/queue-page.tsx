import { size, span } from "@sluice/protocol/words";
import { useEffect, useState } from "preact/hooks";
import {
  apiPath,
  call,
  type FiguresView,
  orRefusal,
  type QueueView,
  type QueueWhyView,
  queuePath,
  Refused,
} from "../api/call.ts";
import { withFigures } from "../api/figures.ts";
import { answerOf } from "../api/live-query.ts";
import { queueLink, TABS, type Tab } from "../api/route.ts";
import { useNotices } from "../api/use-feed.ts";
import { useLive } from "../api/use-live.ts";
import { useNow } from "../development/use-now.ts";
import { MessagesTab } from "../message/messages-tab.tsx";
import { Page } from "../page/page.tsx";
import { stateOfQueue } from "../text/delivery-state.ts";
import { Figures } from "../ui/facts.tsx";
import { useKeys } from "../ui/keys.ts";
import { Sentence } from "../ui/sentence.tsx";
import { Damage, Status } from "../ui/status.tsx";
import { Count } from "../ui/table.tsx";
import { HistoryTab } from "./history-tab.tsx";
import { NowTab } from "./now-tab.tsx";
import { QueueActions } from "./queue-actions.tsx";
import { SendDialog } from "./send-dialog.tsx";
import { SettingsTab } from "./settings-tab.tsx";
import { useQueueEvents } from "./use-queue-events.ts";

const TAB_NAMES: Readonly<Record<Tab, string>> = {
  now: "Now",
  messages: "Messages",
  history: "History",
  settings: "Settings",
};

/** Shortest time between two requests for the queue, in ms. The feed brings counts in between. */
const PERIOD_MS = 2_000;
/** Time after the moment of the next delivery at which the page asks again, in ms. */
const OVERDUE_MS = 1_000;
/** Time of the queue until it has answered. */
const BEFORE_ALL = new Date(0).toISOString();

interface QueuePageProps {
  readonly name: string;
  readonly tab: Tab;
  readonly filter: string;
}

interface QueueAndReason {
  readonly queue: QueueView;
  /** Refused while a shard of the queue does not answer. */
  readonly why: QueueWhyView | Refused;
}

/** One queue: what it holds and why, how messages leave it, and what an operator can do. */
export function QueuePage({ name, tab, filter }: QueuePageProps) {
  const { live, refresh } = useLive(
    `queue ${name}`,
    async (): Promise<QueueAndReason> => {
      const [queue, why] = await Promise.all([
        call<QueueView>(queuePath(name)),
        orRefusal(call<QueueWhyView>(`${queuePath(name)}/why`)),
      ]);
      return { queue, why };
    },
    PERIOD_MS,
  );
  const [figures, setFigures] = useState<FiguresView | null>(null);
  useNotices((notice) => {
    const own = notice.kind === "ask" ? undefined : notice.frame.queues.find((queue) => queue.name === name);
    if (own !== undefined) setFigures(own);
  });
  const answer = answerOf(live);
  const known = answer === null ? null : withFigures(answer.queue, figures);
  // One clock for all that the page says.
  const now = useNow(known?.now ?? BEFORE_ALL);
  const next = known?.health?.next ?? null;
  const isOverdue = next !== null && Date.parse(next.at) + OVERDUE_MS < Date.parse(now);
  // The feed brings nothing when a consumer is asked again and is still away.
  useEffect(() => {
    if (isOverdue) refresh();
  }, [isOverdue, next?.at]);
  const fresh = (queue: QueueView) => ({ ...withFigures(queue, figures), now });
  return (
    <Page
      title={name}
      live={live}
      refresh={refresh}
      beside={({ queue }) => (
        <>
          {queue.kind === "fifo" ? <span class="tag">FIFO</span> : null}
          {stateOfQueue(queue).word === "–" ? null : <Status {...stateOfQueue(fresh(queue))} />}
        </>
      )}
    >
      {({ queue, why }) => (
        <Shown queue={fresh(queue)} why={why} tab={tab} filter={filter} refresh={refresh} />
      )}
    </Page>
  );
}

interface ShownProps extends QueueAndReason, Pick<QueuePageProps, "tab" | "filter"> {
  readonly refresh: () => void;
}

function Shown({ queue, why, tab, filter, refresh }: ShownProps) {
  const { name, now } = queue;
  const events = useQueueEvents(name);
  const [isSending, setIsSending] = useState(false);
  const send = () => setIsSending(true);
  const go = (to: Tab) => () => location.assign(queueLink(name, to));
  useKeys({ s: send, ...Object.fromEntries(TABS.map((to, i) => [String(i + 1), go(to)])) });
  return (
    <>
      <Damage damage={queue.damage} />
      <WhyNotice why={why} now={now} />
      <QueueActions queue={queue} filter={filter} send={send} refresh={refresh} />
      <Figures
        of={[
          { label: "Ready", value: <Count of={queue.messages.ready} /> },
          { label: "Delayed", value: <Count of={queue.messages.delayed} /> },
          { label: "Leased", value: <Count of={queue.messages.leased} /> },
          { label: "Backlog", value: size(queue.backlogBytes) },
          {
            label: "Oldest",
            value:
              queue.oldestMessageAt === null
                ? "–"
                : span(Date.parse(now) - Date.parse(queue.oldestMessageAt)),
          },
        ]}
      />
      <nav class="tabs" aria-label="Parts of the page">
        {TABS.map((to) => (
          <a key={to} href={queueLink(name, to)} {...(to === tab ? { "aria-current": "page" as const } : {})}>
            {TAB_NAMES[to]}
          </a>
        ))}
      </nav>
      {tab === "now" ? <NowTab queue={queue} events={events} now={now} /> : null}
      {tab === "messages" ? (
        <MessagesTab
          queue={queue}
          filter={filter}
          now={now}
          send={send}
          queueReason={textOf(why)}
          changed={refresh}
        />
      ) : null}
      {tab === "history" ? <HistoryTab name={name} now={now} /> : null}
      {tab === "settings" ? <SettingsTab queue={queue} /> : null}
      <footer>
        The same as JSON: <a href={apiPath(queuePath(name))}>{apiPath(queuePath(name))}</a>
      </footer>
      {isSending ? <SendDialog queue={queue} sent={refresh} closed={() => setIsSending(false)} /> : null}
    </>
  );
}

const TONES: Readonly<Partial<Record<QueueWhyView["reason"], string>>> = {
  paused: "warn",
  noConsumer: "warn",
  consumerAway: "bad",
  storageFull: "bad",
  damaged: "bad",
  exhausted: "bad",
  empty: "quiet",
  awaitsPull: "quiet",
};

function textOf(why: QueueWhyView | Refused): string {
  return why instanceof Refused ? why.message : why.text;
}

/** Shows why nothing more is delivered now, above everything else. */
function WhyNotice({ why, now }: Pick<QueueAndReason, "why"> & { readonly now: string }) {
  if (why instanceof Refused) return <p class="notice bad">{textOf(why)}</p>;
  return (
    <section class={`notice ${TONES[why.reason] ?? "busy"}`} aria-label="Why nothing more is delivered">
      {[why, ...why.also].map(({ text }) => (
        <p key={text}>
          <Sentence text={text} now={now} />
        </p>
      ))}
    </section>
  );
}
