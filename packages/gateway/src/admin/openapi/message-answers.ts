import {
  CONTENT_TYPES,
  type DelayReason,
  FAULT_KINDS,
  type FinishedKind,
  HISTORY_KINDS,
  type LogLevel,
  type MessageState,
  type StoryGap,
  type WhyReason,
} from "@sluice/protocol";
import * as z from "zod/mini";
import type { TraceView } from "../trace-view.ts";
import type {
  DryRun,
  ErrorsView,
  EventView,
  FiguresOverView,
  FoundView,
  QueueWhyView,
  SearchView,
  StoryView,
  WholeMessageView,
} from "../views.ts";
import { numbers, ofOthers, oneOf, time, UNTRUSTED } from "./parts.ts";

const REASONS = oneOf<WhyReason>({
  delayed: true,
  leased: true,
  groupBlocked: true,
  groupHeldBack: true,
  paused: true,
  noConsumer: true,
  consumerAway: true,
  throttled: true,
  batching: true,
  concurrency: true,
  draining: true,
  awaitsPull: true,
  exhausted: true,
  dueNow: true,
  finished: true,
  empty: true,
  alert: true,
  storageFull: true,
  damaged: true,
});

/** Makes the schemas of answers about messages, and of what happened to them. */
export function messageAnswers() {
  const why = z.object({
    reason: REASONS,
    // The text of an alert quotes an error.
    text: ofOthers(),
    until: z.nullable(time()),
    by: z.nullable(z.string()),
  });
  const queueWhy = z.extend(why, {
    also: z.array(why),
    messages: z.exactOptional(z.object({ ready: z.number(), delayed: z.number(), leased: z.number() })),
  }) satisfies z.ZodMiniType<QueueWhyView>;
  const kind = z.enum(HISTORY_KINDS);
  const traceLink = { id: z.string(), url: z.exactOptional(z.string()) };
  const trace = z.object({
    ...traceLink,
    traceparent: z.string(),
    tracestate: z.exactOptional(ofOthers()),
  }) satisfies z.ZodMiniType<TraceView>;
  const message = z.object({
    id: z.string(),
    ref: z.string(),
    state: oneOf<MessageState>({ ready: true, delayed: true, leased: true, finished: true }),
    why,
    sentAt: time(),
    dueAt: z.nullable(time()),
    leasedUntil: z.nullable(time()),
    keptUntil: z.nullable(time()),
    attempts: z.number(),
    attemptsBefore: z.exactOptional(z.number()),
    contentType: z.enum(CONTENT_TYPES),
    bytes: z.number(),
    text: z.nullable(ofOthers()),
    truncated: z.boolean(),
    // Of a list only with `?whole=true`.
    base64: z.exactOptional(z.nullable(ofOthers())),
    group: z.nullable(ofOthers()),
    attributes: z
      .record(z.string(), z.object({ type: z.string(), value: z.string() }))
      .check(z.meta({ [UNTRUSTED]: true })),
    from: z.nullable(z.string()),
    lastError: z.exactOptional(z.nullable(ofOthers())),
    end: z.exactOptional(
      z.object({
        kind: oneOf<FinishedKind>({ acked: true, deleted: true, expired: true, dropped: true }),
        at: time(),
        by: z.nullable(z.string()),
        error: z.nullable(ofOthers()),
      }),
    ),
    trace: z.exactOptional(trace),
  });
  const wholeMessage = z.extend(message, {
    base64: z.nullable(ofOthers()),
    value: z.exactOptional(ofOthers()),
  }) satisfies z.ZodMiniType<WholeMessageView>;
  const messages = z.object({
    messages: z.array(message),
    cursor: z.nullable(z.string()),
    now: z.exactOptional(time()),
    searched: z.number(),
    of: z.number(),
    finished: z.exactOptional(z.number()),
  });
  const logs = z.object({
    lines: z.array(
      z.object({
        at: time(),
        level: oneOf<LogLevel>({ debug: true, info: true, log: true, warn: true, error: true }),
        text: ofOthers(),
      }),
    ),
    leftOut: z.number(),
    mixed: z.number(),
    ofWorker: z.boolean(),
  });
  const event = z.object({
    number: z.nullable(z.number()),
    kind,
    at: time(),
    queue: z.string(),
    messages: z.number(),
    ids: z.array(z.string()),
    otherIds: z.array(z.string()),
    by: z.nullable(z.string()),
    to: z.nullable(z.string()),
    batch: z.nullable(z.number()),
    attempt: z.nullable(z.number()),
    delayMs: z.nullable(z.number()),
    delayReason: z.nullable(
      oneOf<DelayReason>({
        message: true,
        send: true,
        queue: true,
        handler: true,
        policy: true,
        retryDelay: true,
        absence: true,
        restart: true,
      }),
    ),
    error: z.nullable(ofOthers()),
    tookMs: z.nullable(z.number()),
    merged: z.nullable(
      z.object({ until: time(), events: z.number(), tookMs: z.nullable(z.array(z.number())) }),
    ),
    pausedMs: z.exactOptional(z.number()),
    movedMs: z.exactOptional(z.number()),
    logs: z.exactOptional(logs),
  }) satisfies z.ZodMiniType<EventView>;
  const story = z.object({
    messages: z.array(z.object({ queue: z.string(), id: z.string() })),
    events: z.array(event),
    gaps: z.array(
      z.object({
        queue: z.string(),
        reason: oneOf<StoryGap["reason"]>({ merged: true, overwritten: true, off: true, unknown: true }),
        since: z.nullable(time()),
        until: z.nullable(time()),
        kinds: z.nullable(z.array(kind)),
        after: z.nullable(z.number()),
      }),
    ),
    trace: z.exactOptional(z.object(traceLink)),
  }) satisfies z.ZodMiniType<StoryView>;
  const history = z.object({ isOn: z.boolean(), events: z.array(event), cursor: z.nullable(z.string()) });
  const errors = z.object({
    groups: z.array(z.object({ error: ofOthers(), count: z.number(), text: z.exactOptional(ofOthers()) })),
    ...numbers("others", "none", "matched", "searched", "of").shape,
  }) satisfies z.ZodMiniType<ErrorsView>;
  const dryRun = z.object({
    dryRun: z.literal(true),
    count: z.number(),
    messages: z.array(message),
    cursor: z.nullable(z.string()),
    searched: z.number(),
    of: z.number(),
  }) satisfies z.ZodMiniType<DryRun>;
  const found = z.object({
    queue: z.string(),
    filter: z.string(),
    messages: z.array(message),
    count: z.number(),
    isWhole: z.boolean(),
  }) satisfies z.ZodMiniType<FoundView>;
  const search = z.object({
    queues: z.array(z.string()),
    topics: z.array(z.string()),
    messages: z.array(found),
    gone: z.array(z.object({ queue: z.string(), id: z.string(), last: event })),
    unfinished: z.array(z.object({ queue: z.string(), searched: z.number(), of: z.nullable(z.number()) })),
  }) satisfies z.ZodMiniType<SearchView>;
  const columns = z.array(z.nullable(z.number()));
  const duration = z.nullable(z.number());
  const figures = z.object({
    now: time(),
    since: z.nullable(time()),
    isOn: z.boolean(),
    stepMs: z.number(),
    startsMs: z.array(z.number()),
    counts: z.partialRecord(kind, z.array(z.number())),
    held: columns,
    ageMs: columns,
    p50Ms: columns,
    p99Ms: columns,
    took: z.object({ tookMs: z.array(z.number()), p50Ms: duration, p99Ms: duration, longestMs: duration }),
    marks: z.array(z.object({ kind: z.string(), at: time(), byMs: duration })),
  }) satisfies z.ZodMiniType<FiguresOverView>;
  const fault = z.object({ kind: z.enum(FAULT_KINDS), times: z.number(), ms: z.number() });
  return {
    message,
    wholeMessage,
    messages,
    queueWhy,
    event,
    story,
    history,
    errors,
    dryRun,
    search,
    figures,
    fault,
    faults: z.object({ seed: z.number(), faults: z.array(fault) }),
  };
}
