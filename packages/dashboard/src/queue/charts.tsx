import { span } from "@sluice/protocol/words";
import { useEffect, useState } from "preact/hooks";
import type { QueueView } from "../api/call.ts";
import { useDevelopment } from "../development/use-development.tsx";
import { duration } from "../text/format.ts";
import { Chart } from "../ui/chart.tsx";
import type { Samples } from "./samples.ts";

const count = (value: number) =>
  value >= 10 || Number.isInteger(value) ? Math.round(value).toLocaleString("en") : value.toFixed(1);
const seconds = (value: number) => span(1_000 * value);

interface ChartsProps {
  readonly queue: QueueView;
  readonly samples: Samples;
  /** Whether there is a history; `null` until its part of the samples is there. */
  readonly isOn: boolean | null;
  readonly now: string;
}

/** Draws charts of what came in, went out and waited in the last five minutes, and of the durations of deliveries. */
export function Charts({ queue, samples, isOn, now }: ChartsProps) {
  const { messages, oldestMessageAt } = queue;
  const nowMs = Date.parse(now);
  const isFrozen = useDevelopment().clock?.isFrozen ?? false;
  // The second that has begun is not over, unless the clock stands.
  const whole = (values: readonly (number | null)[]) =>
    isFrozen ? [...values] : [...values.slice(0, -1), null];
  const [columns, setColumns] = useState(() => samples.columns(nowMs));
  useEffect(() => {
    const { ready, delayed, leased } = messages;
    const oldestMs = oldestMessageAt === null ? null : nowMs - Date.parse(oldestMessageAt);
    samples.addLevel(nowMs, ready + delayed + leased, oldestMs);
    setColumns(samples.columns(nowMs));
  }, [queue, now, isOn]);
  return (
    <div class="charts">
      <Chart
        title="Messages a second"
        seconds={columns.seconds}
        format={count}
        series={[
          { label: "in", color: "series-in", values: whole(columns.in) },
          { label: "out", color: "series-out", values: whole(columns.out) },
          { label: "retried, dead", color: "series-bad", values: whole(columns.bad) },
        ]}
      />
      <Chart
        title="In the queue"
        seconds={columns.seconds}
        format={count}
        series={[{ label: "messages", color: "series-in", values: columns.waiting }]}
      />
      <Chart
        title="Oldest message"
        seconds={columns.seconds}
        format={seconds}
        series={[{ label: "age", color: "series-in", values: columns.oldest }]}
      />
      <Chart
        title="Handler"
        seconds={columns.seconds}
        format={duration}
        series={[
          { label: "p50", color: "series-out", values: columns.p50, isPoints: true },
          { label: "p99", color: "series-other", values: columns.p99, isPoints: true },
        ]}
      />
    </div>
  );
}
