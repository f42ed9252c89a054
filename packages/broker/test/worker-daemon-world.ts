import type { QueueDefinition, WorkerDaemonSettings } from "@sluice/protocol";
import type { EndpointOutcome } from "../src/endpoint/endpoint.ts";
import { endpoint } from "./messages.ts";
import { World } from "./world.ts";

export interface Options extends Partial<WorkerDaemonSettings> {
  readonly connections?: number;
  readonly inactivityTimeoutSeconds?: number;
  readonly maxRetries?: number;
  readonly contentType?: string;
  readonly queue?: Partial<QueueDefinition>;
}

export function worldWith({
  connections,
  inactivityTimeoutSeconds,
  maxRetries,
  queue,
  contentType,
  ...daemon
}: Options = {}) {
  const consumer = endpoint({
    url: "http://app.example/work",
    format: "sqsd",
    contentType: contentType ?? "application/json",
    maxConcurrency: connections ?? 50,
    responseTimeoutSeconds: inactivityTimeoutSeconds ?? 299,
    maxRetries: (maxRetries ?? 10) - 1,
    deadLetterQueue: maxRetries === undefined ? null : "dead",
    daemon: {
      visibilityTimeoutSeconds: 300,
      errorVisibilityTimeoutSeconds: null,
      retentionSeconds: 345_600,
      ...daemon,
    },
  });
  return new World({ jobs: { ...queue, consumer }, dead: {} });
}

export const secondsOf = (world: World) => world.posts.map(({ atMs }) => atMs / 1000);
export const countsOf = (world: World) =>
  world.posts.map(({ headers }) => headers["X-Aws-Sqsd-Receive-Count"]);
export const isEmpty = (world: World) => world.core("jobs").queue.segments.size === 0;

/** Answers after so many seconds each; what has none is never answered. */
export function answersAfter(world: World, answers: readonly [seconds: number, outcome: EndpointOutcome][]) {
  const due: { atMs: number; give: () => void }[] = [];
  const left = [...answers];
  world.answer = () => {
    const next = left.shift();
    if (next === undefined) return new Promise(() => {});
    const [seconds, outcome] = next;
    return new Promise((resolve) =>
      due.push({ atMs: world.nowMs + 1000 * seconds, give: () => resolve(outcome) }),
    );
  };
  return async (seconds: number) => {
    const endMs = world.nowMs + 1000 * seconds;
    for (;;) {
      await world.pass(0);
      const next = due.sort((a, b) => a.atMs - b.atMs)[0];
      const stepMs = Math.min(1_000, endMs - world.nowMs, (next?.atMs ?? Infinity) - world.nowMs);
      if (stepMs > 0) await world.pass(stepMs);
      if (next !== undefined && next.atMs <= world.nowMs) {
        due.shift();
        next.give();
        await world.pass(0);
      } else if (world.nowMs >= endMs) return;
    }
  };
}
