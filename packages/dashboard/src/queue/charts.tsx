import { useEffect, useState } from "preact/hooks";
import { call, type FiguresOverView, type QueueView, queuePath } from "../api/call.ts";
import { answerOf } from "../api/live-query.ts";
import { useLive } from "../api/use-live.ts";
import { duration } from "../text/format.ts";
import { Chart, COUNT_STEPS, clockTime, TIME_STEPS } from "../ui/chart.tsx";
import { Scrolled } from "../ui/scrolled.tsx";
import { type ChartWindow, linesOf, marksOf, pausesOf, WINDOWS } from "./chart-series.ts";

const count = (value: number) =>
  value >= 10 || Number.isInteger(value) ? Math.round(value).toLocaleString("en") : value.toFixed(1);
const upTo = (ms: number) => `≤ ${duration(ms)}`;

/** Marks that are put into words: the newest ones. */
const MARKS_SHOWN = 8;
/** Forgotten with the tab. */
const WINDOW_KEY = "sluice-window";

const NOTHING: FiguresOverView = {
  isOn: true,
  now: "",
  since: null,
  stepMs: 1_000,
  startsMs: [],
  counts: {},
  held: [],
  ageMs: [],
  p50Ms: [],
  p99Ms: [],
  took: { tookMs: [], p50Ms: null, p99Ms: null, longestMs: null },
  marks: [],
};

/** Draws charts of what came in, went out and waited, and of the durations of deliveries. */
export function Charts({ queue, now }: { readonly queue: QueueView; readonly now: string }) {
  const { messages, oldestMessageAt } = queue;
  const [window, setWindow] = useState(
    () => WINDOWS.find((known) => known.window === sessionStorage.getItem(WINDOW_KEY))?.window ?? "5m",
  );
  const figures = useFigures(queue.name, window) ?? NOTHING;
  /** Column whose values are shown; `null` for those of the whole window. */
  const [at, setAt] = useState<number | null>(null);
  const { startsMs, stepMs } = figures;
  const lines = linesOf(figures, {
    held: messages.ready + messages.delayed + messages.leased,
    ageMs: oldestMessageAt === null ? 0 : Date.parse(now) - Date.parse(oldestMessageAt),
  });
  const marks = marksOf(figures.marks, startsMs);
  const pauses = pausesOf(marks, startsMs.length - 1, figures.isOn && queue.settings.deliveryPaused);
  const shared = { startsMs, stepMs, marks, pauses, at, setAt };
  return (
    <section aria-label="Charts">
      <div class="row chart-bar">
        <div class="row">
          {WINDOWS.map(({ window: each, label }) => (
            <button
              key={each}
              type="button"
              aria-pressed={each === window}
              onClick={() => {
                sessionStorage.setItem(WINDOW_KEY, each);
                setAt(null);
                setWindow(each);
              }}
            >
              {label}
            </button>
          ))}
        </div>
        <div class="marks">
          {marks.length === 0 ? null : (
            <Scrolled label="Marks in words" class="one-line">
              <ul class="plain row quiet" aria-label="Marks">
                {marks.length > MARKS_SHOWN ? <li>{marks.length - MARKS_SHOWN} earlier,</li> : null}
                {marks.slice(-MARKS_SHOWN).map(({ column, text }, i) => (
                  <li key={i}>
                    {clockTime(startsMs[column] ?? 0, stepMs)} {text}
                  </li>
                ))}
              </ul>
            </Scrolled>
          )}
        </div>
      </div>
      <div class="charts">
        <Chart
          {...shared}
          title="Messages a second"
          steps={COUNT_STEPS}
          format={count}
          series={[
            { label: "in", color: "series-in", ...lines.in },
            { label: "out", color: "series-out", ...lines.out },
            { label: "retried, dead", color: "series-bad", ...lines.bad },
          ]}
        />
        <Chart
          {...shared}
          title="In the queue"
          steps={COUNT_STEPS}
          format={count}
          series={[{ label: "messages", color: "series-in", ...lines.held }]}
        />
        <Chart
          {...shared}
          title="Oldest message"
          steps={TIME_STEPS}
          format={duration}
          series={[{ label: "age", color: "series-in", ...lines.age }]}
        />
        <Chart
          {...shared}
          title="Handler"
          steps={TIME_STEPS}
          format={duration}
          legend={upTo}
          series={[
            { label: "p50", color: "series-out", ...lines.p50, isPoints: true },
            { label: "p99", color: "series-other", ...lines.p99, isPoints: true },
          ]}
        />
      </div>
    </section>
  );
}

/** Asks for the figures of a window again and again, while the page can be seen; `null` until there are any. */
function useFigures(queue: string, window: ChartWindow): FiguresOverView | null {
  const path = `${queuePath(queue)}/figures?window=${window}`;
  const periodMs = WINDOWS.find((known) => known.window === window)?.periodMs;
  const { live, renew } = useLive(path, () => call<FiguresOverView>(path), periodMs);
  // Time goes on without notices.
  useEffect(() => {
    const timer = setInterval(renew, periodMs);
    return () => clearInterval(timer);
  }, [periodMs]);
  return answerOf(live);
}
