/**
 * Kind of source that a subscription can be about (spec cloudflare-queues 6.6). Sources and events are those of
 * Cloudflare's documentation (queues/event-subscriptions, and its changelog of 2026-05-15 and 2026-08-13). How the type
 * of AI Search is written is not published.
 */
interface SourceKind {
  /** Names of the fields that tell one source of the type from another; each is required. */
  readonly fields: readonly string[];
  /** Names of the events; `null` where no list is published: then every name is taken. */
  readonly events: readonly string[] | null;
}

const SOURCE_KINDS: Readonly<Record<string, SourceKind>> = {
  r2: { fields: [], events: ["bucket.created", "bucket.deleted"] },
  kv: { fields: [], events: ["namespace.created", "namespace.deleted"] },
  superSlurper: {
    fields: [],
    events: [
      "job.started",
      "job.paused",
      "job.resumed",
      "job.completed",
      "job.aborted",
      "job.object.migrated",
    ],
  },
  vectorize: { fields: [], events: ["index.created", "index.deleted"] },
  "workersAi.model": { fields: ["model_name"], events: ["batch.queued", "batch.succeeded", "batch.failed"] },
  "workersBuilds.worker": {
    fields: ["worker_name"],
    events: ["build.started", "build.failed", "build.canceled", "build.succeeded"],
  },
  "workflows.workflow": {
    fields: ["workflow_name"],
    events: [
      "instance.queued",
      "instance.started",
      "instance.paused",
      "instance.errored",
      "instance.terminated",
      "instance.completed",
    ],
  },
  images: { fields: [], events: null },
  access: { fields: [], events: ["application.created", "application.deleted"] },
  artifacts: { fields: [], events: ["repo.created", "repo.deleted", "repo.forked", "repo.imported"] },
  "artifacts.repo": {
    fields: ["namespace", "repo_name"],
    events: ["pushed", "cloned", "fetched", "token.created", "token.revoked"],
  },
  browserRun: { fields: [], events: ["crawl.started", "crawl.updated", "crawl.finished"] },
  "email.sending": {
    fields: ["zone_id", "domain"],
    events: [
      "message.delivered",
      "message.deferred",
      "message.bounced",
      "message.failed",
      "message.rejected",
      "message.complained",
    ],
  },
  stream: {
    fields: [],
    events: [
      "video_state.ready",
      "video_state.updated",
      "caption.created",
      "caption.updated",
      "caption.deleted",
      "download.created",
      "download.updated",
      "download.deleted",
    ],
  },
  "stream.liveInput": {
    fields: [],
    events: ["live_input.connected", "live_input.disconnected", "live_input.errored"],
  },
  "workers.script": {
    fields: ["script_tag"],
    events: [
      "worker.created",
      "worker.updated",
      "worker.deleted",
      "version.created",
      "version.deleted",
      "deployment.created",
      "deployment.deleted",
    ],
  },
};

/** Reads the fields that tell a source from others of its type, or finds its fault, for people. */
export function readSource({ type, ...rest }: Readonly<Record<string, unknown>>): {
  readonly source: Readonly<Record<string, string>> | null;
  readonly problem: string;
} {
  const kind = kindOf(type);
  if (kind === undefined || typeof type !== "string") {
    const types = Object.keys(SOURCE_KINDS).join(", ");
    return { source: null, problem: `Unknown event source "${type}". There are: ${types}.` };
  }
  const fields: [string, string][] = [];
  for (const field of kind.fields) {
    const value = rest[field];
    if (typeof value !== "string" || value === "") {
      return { source: null, problem: `The event source "${type}" needs a "${field}".` };
    }
    fields.push([field, value]);
  }
  return { source: { type, ...Object.fromEntries(fields) }, problem: "" };
}

/** Returns the fault of the events that a subscription names, for people; `null` if there is none. */
export function eventsProblem(sourceType: unknown, names: readonly string[]): string | null {
  const known = kindOf(sourceType)?.events ?? null;
  const unknown = known === null ? [] : names.filter((name) => !known.includes(name));
  if (unknown.length === 0) return null;
  const text = `Unrecognized event types for source "${sourceType}": ${unknown.join(", ")}.`;
  return `${text} There are: ${known?.join(", ")}.`;
}

/** Lists the events of each source: those that production sends, where they are published. */
export function eventsOfSources(): readonly (readonly [source: string, events: readonly string[]])[] {
  return Object.entries(SOURCE_KINDS).map(([source, { events }]) => [source, events ?? []]);
}

function kindOf(type: unknown): SourceKind | undefined {
  return typeof type === "string" && Object.hasOwn(SOURCE_KINDS, type) ? SOURCE_KINDS[type] : undefined;
}
