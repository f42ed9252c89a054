/** What a subscription can be about (spec cloudflare-queues 6.6). */
export interface SourceKind {
  /** What tells one source of the type from another; each is required. */
  readonly fields: readonly string[];
  /** The events there are; `null` where nobody has published them: then every name is taken. */
  readonly events: readonly string[] | null;
}

export const SOURCE_KINDS: Readonly<Record<string, SourceKind>> = {
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
  "workersAi.model": {
    fields: ["model_name"],
    events: ["batch.queued", "batch.succeeded", "batch.failed"],
  },
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
  browserRun: { fields: [], events: null },
  artifacts: { fields: [], events: null },
  "artifacts.repo": { fields: ["namespace", "repo_name"], events: null },
  "email.sending": { fields: ["zone_id", "domain"], events: null },
  "workers.script": { fields: ["script_tag"], events: null },
};
