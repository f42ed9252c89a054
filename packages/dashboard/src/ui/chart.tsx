import { useEffect, useId, useMemo, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";

const HEIGHT = 120;
/** Steps of the figures at the left: whole ones, since smaller ones would look alike. */
const STEPS = Array.from({ length: 10 }, (_, power) => [1, 2, 5].map((step) => step * 10 ** power)).flat();

interface ChartSeries {
  readonly label: string;
  /** A colour of `tokens.css`, without the dashes before it. */
  readonly color: string;
  readonly values: (number | null)[];
  /** Whether each figure is a point of its own: there may be none for a while. */
  readonly isPoints?: boolean;
}

interface ChartProps {
  readonly title: string;
  /** Seconds since 1970. */
  readonly seconds: number[];
  readonly series: readonly ChartSeries[];
  readonly format: (value: number) => string;
}

/** Chart of figures over time. A screen reader reads the newest ones. */
export function Chart({ title, seconds, series, format }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const data = useMemo<uPlot.AlignedData>(() => [seconds, ...series.map(({ values }) => values)], [seconds]);
  const latest = useRef(data);
  latest.current = data;
  const heading = useId();
  // The series of a chart stay the same as long as its title does.
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    const draw = () => {
      plot.current?.destroy();
      plot.current = new uPlot(optionsOf(series, format, element.clientWidth), latest.current, element);
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
  useEffect(() => plot.current?.setData(data), [data]);
  const newest = series.map(({ values }) => values.findLast((value) => value !== null) ?? null);
  return (
    <section class="card chart" aria-labelledby={heading}>
      <header>
        <h2 id={heading}>{title}</h2>
        <ul class="plain row legend">
          {series.map(({ label, color }, i) => (
            <li key={label} class={color}>
              {label} <span class="some">{newest[i] == null ? "–" : format(newest[i])}</span>
            </li>
          ))}
        </ul>
      </header>
      <div ref={place} aria-hidden="true" />
    </section>
  );
}

function optionsOf(
  series: readonly ChartSeries[],
  format: (value: number) => string,
  width: number,
): uPlot.Options {
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
    cursor: { show: false },
    padding: [8, 26, 0, 0],
    scales: { y: { range: (_, __, max) => [0, Math.max(1, (max ?? 0) * 1.1)] } },
    axes: [
      { ...axis, values: (_, splits) => splits.map(timeText), size: 22, space: 70 },
      { ...axis, values: (_, splits) => splits.map(format), size: 54, space: 34, incrs: STEPS },
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
  };
}

function timeText(seconds: number): string {
  return new Date(1_000 * seconds).toLocaleTimeString("en-GB", {
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
  });
}
