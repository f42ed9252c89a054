import { useEffect, useId, useRef } from "preact/hooks";
import uPlot from "uplot";

const HEIGHT = 120;
/** Steps of the figures at the left: whole ones, since smaller ones would look alike. */
export const COUNT_STEPS = Array.from({ length: 10 }, (_, power) =>
  [1, 2, 5].map((step) => step * 10 ** power),
).flat();
/** Steps of durations, in ms: each says in one or two units what it is. */
export const TIME_STEPS = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 20, 30].map((seconds) => 1_000 * seconds),
  ...[1, 2, 5, 10, 20, 30].map((minutes) => 60_000 * minutes),
  ...[1, 2, 4, 8, 12, 24, 48, 96, 240].map((hours) => 3_600_000 * hours),
];
/** Columns that a key goes on by. */
const KEYS: Readonly<Record<string, number>> = {
  ArrowLeft: -1,
  ArrowDown: -1,
  ArrowRight: 1,
  ArrowUp: 1,
  PageDown: -10,
  PageUp: 10,
  Home: Number.NEGATIVE_INFINITY,
  End: Number.POSITIVE_INFINITY,
};

/** Figures of a line: its values, and what its legend says of the whole window. */
export interface Line {
  readonly values: (number | null)[];
  readonly whole: string;
}

/** Mark in a chart: its column, and what it says. */
export interface ChartMark {
  readonly column: number;
  readonly kind: string;
  readonly text: string;
}

interface ChartSeries extends Line {
  readonly label: string;
  /** A colour of `tokens.css`, without the dashes before it. */
  readonly color: string;
  /** Whether each figure is a point of its own: there may be none for a while. */
  readonly isPoints?: boolean;
}

interface ChartProps {
  readonly title: string;
  /** Beginnings of the columns in ms. Time that was skipped has none. */
  readonly startsMs: readonly number[];
  readonly stepMs: number;
  readonly series: readonly ChartSeries[];
  readonly marks: readonly ChartMark[];
  /** Pauses of delivery, each by its first and last column. */
  readonly pauses: readonly (readonly [from: number, to: number])[];
  /** Steps of the axis of values. */
  readonly steps: number[];
  readonly format: (value: number) => string;
  /** Puts a value of the legend into words. Default: `format`. */
  readonly legend?: (value: number) => string;
  /** Column whose values the legend has; `null` for the whole window. */
  readonly at: number | null;
  readonly setAt: (at: number | null) => void;
}

/** Chart of figures over time. A pointer or the arrow keys choose a column, whose values the legend shows. */
export function Chart(props: ChartProps) {
  const { title, startsMs, stepMs, series, marks, format, legend = format, at, setAt } = props;
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const heading = useId();
  // The series of a chart stay the same as long as its title does.
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    const draw = () => {
      plot.current?.destroy();
      plot.current = new uPlot(optionsOf(latest, element.clientWidth), dataOf(latest.current), element);
    };
    const resized = new ResizeObserver(() =>
      plot.current?.setSize({ width: element.clientWidth, height: HEIGHT }),
    );
    draw();
    resized.observe(element);
    scheme.addEventListener("change", draw);
    return () => {
      resized.disconnect();
      scheme.removeEventListener("change", draw);
      plot.current?.destroy();
      plot.current = null;
    };
  }, [title]);
  useEffect(() => plot.current?.setData(dataOf(props)), [startsMs]);
  useEffect(() => {
    const left = at === null ? -10 : (plot.current?.valToPos(at, "x") ?? 0);
    plot.current?.setCursor({ left, top: 0 }, false);
  }, [at]);
  const last = startsMs.length - 1;
  const shown = at === null ? null : Math.min(at, last);
  const time = shown === null ? "" : clockTime(startsMs[shown] ?? 0, stepMs);
  const valueTextOf = ({ values, whole }: ChartSeries) => {
    const value = shown === null ? null : (values[shown] ?? null);
    return shown === null ? whole : value === null ? "–" : legend(value);
  };
  const mark = shown === null ? undefined : marks.findLast(({ column }) => column === shown);
  const text = [time, ...series.map((each) => `${each.label} ${valueTextOf(each)}`), mark?.text];
  return (
    <section class="card chart" aria-labelledby={heading}>
      <header>
        <h2 id={heading}>{title}</h2>
        <ul class="plain row legend">
          {series.map((each) => (
            <li key={each.label} class={each.color}>
              {each.label} <span class="some">{valueTextOf(each)}</span>
            </li>
          ))}
          {shown === null ? null : (
            <li class="at">
              {time} {mark?.text}
            </li>
          )}
        </ul>
      </header>
      <div
        ref={place}
        role="slider"
        tabIndex={0}
        aria-labelledby={heading}
        aria-valuemin={0}
        aria-valuemax={Math.max(0, last)}
        aria-valuenow={Math.max(0, shown ?? last)}
        aria-valuetext={text.filter(Boolean).join(", ")}
        onBlur={() => setAt(null)}
        onKeyDown={(event) => {
          const by = KEYS[event.key];
          if (event.key === "Escape") setAt(null);
          if (by === undefined) return;
          event.preventDefault();
          setAt(Math.max(0, Math.min(last, (shown ?? last + 1) + by)));
        }}
      />
    </section>
  );
}

/** A column's beginning by this machine's clock, to the second where columns are so short. */
export function clockTime(ms: number, stepMs: number): string {
  const second = stepMs < 60_000 ? ({ second: "2-digit" } as const) : {};
  return new Date(ms).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit", ...second });
}

/** Columns stand side by side, so that time that was skipped takes no room. */
function dataOf({ startsMs, series }: ChartProps): uPlot.AlignedData {
  return [startsMs.map((_, column) => column), ...series.map(({ values }) => values)];
}

function optionsOf(latest: { readonly current: ChartProps }, width: number): uPlot.Options {
  const { series, steps } = latest.current;
  const tokens = getComputedStyle(document.documentElement);
  const token = (name: string) => tokens.getPropertyValue(`--${name}`).trim();
  const axis = {
    stroke: token("quiet"),
    font: `11px ${tokens.getPropertyValue("--sans")}`,
    grid: { stroke: token("line"), width: 1 },
    ticks: { show: false },
  };
  return {
    width,
    height: HEIGHT,
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 6 } },
    // The lowest figure also has room while there are no times below it.
    padding: [8, 26, 8, 0],
    scales: {
      x: { time: false, range: (_, min, max) => [min, Math.max(max, min + 1)] },
      y: { range: (_, __, max) => [0, Math.max(1, (max ?? 0) * 1.1)] },
    },
    axes: [
      {
        ...axis,
        size: 14,
        splits: () => labelled(latest.current),
        values: (_, columns) =>
          columns.map((column) => clockTime(latest.current.startsMs[column] ?? 0, 60_000)),
      },
      {
        ...axis,
        values: (_, splits) => splits.map((value) => latest.current.format(value)),
        size: 62,
        space: 34,
        incrs: steps,
      },
    ],
    series: [
      {},
      ...series.map(({ label, color, isPoints = false }) => ({
        label,
        stroke: token(color),
        width: 1.5,
        points: { show: isPoints, size: 4, fill: token(color) },
        ...(isPoints ? { paths: () => null } : {}),
      })),
    ],
    hooks: {
      setCursor: [(plot) => latest.current.setAt(plot.cursor.idx ?? null)],
      draw: [(plot) => drawMarks(plot, latest.current, token("series-other"))],
    },
  };
}

/** Columns with a time below them: five to six, at full minutes or hours of this machine's clock. */
function labelled({ startsMs, stepMs }: ChartProps): number[] {
  const everyMs = { 1000: 60_000, 60000: 600_000 }[stepMs] ?? 4 * 3_600_000;
  const offsetMs = new Date(startsMs.at(-1) ?? 0).getTimezoneOffset() * 60_000;
  return startsMs.flatMap((start, column) => ((start - offsetMs) % everyMs === 0 ? [column] : []));
}

/** Draws a line at each mark, and shades the time in which the queue was paused. */
function drawMarks({ ctx, bbox, valToPos }: uPlot, { marks, pauses }: ChartProps, color: string): void {
  const { top, height } = bbox;
  const leftOf = (column: number) => valToPos(column, "x", true);
  ctx.save();
  ctx.fillStyle = color;
  ctx.globalAlpha = 0.15;
  for (const [from, to] of pauses) ctx.fillRect(leftOf(from), top, leftOf(to) - leftOf(from), height);
  ctx.globalAlpha = 1;
  for (const { column } of marks) ctx.fillRect(leftOf(column), top, 1, height);
  ctx.restore();
}
