import { expect, it } from "vitest";
import * as z from "zod";
import { eventSamples } from "./event-samples.ts";
import { eventsOfSources } from "./subscription-sources.ts";

const NOW = Date.UTC(2026, 10, 26, 12, 0, 0, 5);
const samples = eventSamples(NOW);

/*
 * Schemas of the events as Cloudflare documents them: R2's notifications (r2/buckets/event-notifications) and those of
 * subscriptions (queues/event-subscriptions/events-schemas). An unknown or missing member is a fault.
 */
const text = z.string().min(1);
const time = z.iso.datetime();
const id = z.string().regex(/^[0-9a-f]{32}$/);
const exactly = <Shape extends z.core.$ZodLooseShape>(shape: Shape) => z.strictObject(shape);

const namespace = exactly({ id: text, name: text });
const job = { id: text };
const counts = {
  totalObjectsCount: z.int(),
  skippedObjectsCount: z.int(),
  migratedObjectsCount: z.int(),
  failedObjectsCount: z.int(),
};
const repo = {
  repoId: text,
  defaultBranch: text,
  description: z.nullable(text),
  readOnly: z.boolean(),
  createdAt: time,
  updatedAt: time,
  lastPushAt: z.nullable(time),
};
const person = exactly({ name: text, email: z.email() });
const crawlConfig = exactly({
  url: z.url(),
  limit: z.int(),
  depth: z.int(),
  render: z.boolean(),
  formats: z.array(text),
  source: text,
});
const complained = {
  eventId: text,
  messageId: text,
  sender: z.email(),
  recipient: z.email(),
  terminal: z.boolean(),
};
const email = { ...complained, subject: text };
const delivery = exactly({
  status: text,
  provider: text,
  deliveryTimeMs: z.int(),
  smtpStatusCode: z.string().regex(/^\d{3}$/),
  smtpEnhancedStatusCode: z.string().regex(/^\d\.\d\.\d$/),
  smtpResponse: text,
});
const bounce = exactly({ type: z.enum(["soft", "hard"]), classification: text, reason: text });
const status = <Status extends string>(name: Status) => exactly({ status: z.literal(name) });
const instance = exactly({ versionId: text, instanceId: text });
const application = exactly({ id: text, name: text });
const request = { requestId: text };
const build = exactly({
  buildUuid: text,
  status: z.enum(["running", "failed", "canceled", "success"]),
  buildOutcome: z.nullable(z.enum(["failure", "canceled", "success"])),
  createdAt: time,
  initializingAt: time,
  runningAt: time,
  stoppedAt: z.nullable(time),
  buildTriggerMetadata: exactly({
    buildTriggerSource: z.literal("push_event"),
    branch: text,
    commitHash: text,
    commitMessage: text,
    author: text,
    buildCommand: text,
    deployCommand: text,
    rootDirectory: text,
    repoName: text,
    providerAccountName: text,
    providerType: text,
  }),
});
const video = exactly({
  id,
  readyToStream: z.boolean(),
  readyToStreamAt: time,
  requireSignedURLs: z.boolean(),
  status: exactly({
    state: text,
    pctComplete: z.string().regex(/^\d+\.\d{6}$/),
    errorReasonCode: z.string(),
    errorReasonText: z.string(),
  }),
  meta: z.record(z.string(), z.string()),
  created: time,
  modified: time,
  uploaded: time,
  uploadExpiry: time,
  duration: z.number(),
  size: z.int(),
  input: exactly({ height: z.int(), width: z.int() }),
  thumbnail: z.url(),
  thumbnailTimestampPct: z.number(),
  preview: z.url(),
  hlsPlaybackUrl: z.url(),
  dashPlaybackUrl: z.url(),
  publicDetails: exactly({
    title: z.string(),
    share_link: z.string(),
    channel_link: z.string(),
    logo: z.string(),
  }),
});
const liveInput = exactly({
  uid: id,
  status: exactly({
    current: exactly({
      state: z.enum(["connected", "disconnected", "errored"]),
      reason: z.nullable(text),
      statusEnteredAt: time,
      statusLastSeen: time,
    }),
  }),
});
const worker = { name: text };
const version = exactly({ ...worker, id: text });

/** Sources with what tells them apart, and the payloads of their events. */
const SCHEMAS: Readonly<
  Record<string, readonly [source: z.ZodType, payloads: Readonly<Record<string, z.ZodType>>]>
> = {
  r2: [
    exactly({ type: z.literal("r2") }),
    {
      "bucket.created": exactly({ name: text, jurisdiction: text, location: text, storageClass: text }),
      "bucket.deleted": exactly({ name: text, jurisdiction: text }),
    },
  ],
  kv: [
    exactly({ type: z.literal("kv") }),
    { "namespace.created": namespace, "namespace.deleted": namespace },
  ],
  superSlurper: [
    z.union([
      exactly({ type: z.literal("superSlurper") }),
      exactly({ type: z.literal("superSlurper.job"), jobId: text }),
    ]),
    {
      "job.started": exactly({
        ...job,
        createdAt: time,
        overwrite: z.boolean(),
        pathPrefix: z.string(),
        source: exactly({ provider: text, bucket: text, region: text, endpoint: text }),
        destination: exactly({ provider: text, bucket: text, jurisdiction: text }),
      }),
      "job.paused": exactly(job),
      "job.resumed": exactly(job),
      "job.completed": exactly({ ...job, ...counts }),
      "job.aborted": exactly({ ...job, ...counts }),
      "job.object.migrated": exactly({ key: text }),
    },
  ],
  vectorize: [
    exactly({ type: z.literal("vectorize") }),
    {
      "index.created": exactly({
        name: text,
        description: text,
        createdAt: time,
        modifiedAt: time,
        dimensions: z.int(),
        metric: z.enum(["cosine", "euclidean", "dot-product"]),
      }),
      "index.deleted": exactly({ name: text }),
    },
  ],
  "workersAi.model": [
    exactly({ type: z.literal("workersAi.model"), modelName: text }),
    {
      "batch.queued": exactly(request),
      "batch.succeeded": exactly(request),
      "batch.failed": exactly({ ...request, message: text, internalCode: z.int(), httpCode: z.int() }),
    },
  ],
  "workersBuilds.worker": [
    exactly({ type: z.literal("workersBuilds.worker"), workerName: text }),
    { "build.started": build, "build.failed": build, "build.canceled": build, "build.succeeded": build },
  ],
  "workflows.workflow": [
    exactly({ type: z.literal("workflows.workflow"), workflowName: text }),
    {
      "instance.queued": instance,
      "instance.started": instance,
      "instance.paused": instance,
      "instance.errored": instance,
      "instance.terminated": instance,
      "instance.completed": instance,
    },
  ],
  access: [
    exactly({ type: z.literal("access") }),
    { "application.created": application, "application.deleted": application },
  ],
  artifacts: [
    exactly({ type: z.literal("artifacts"), namespace: text, repoName: text }),
    {
      "repo.created": exactly(repo),
      "repo.deleted": exactly(repo),
      "repo.forked": exactly({ namespace: text, repoName: text, ...repo }),
      "repo.imported": exactly({ ...repo, sourceUrl: z.url(), branch: text }),
    },
  ],
  "artifacts.repo": [
    exactly({ type: z.literal("artifacts.repo"), namespace: text, repoName: text }),
    {
      pushed: exactly({
        ref: z.string().startsWith("refs/"),
        before: text,
        after: text,
        commits: z.array(
          exactly({
            id: text,
            message: text,
            messageTruncated: z.boolean(),
            timestamp: time,
            author: person,
            committer: person,
            parents: z.array(text),
          }),
        ),
        totalCommitsCount: z.int(),
        commitsTruncated: z.boolean(),
      }),
      cloned: exactly({}),
      fetched: exactly({}),
      "token.created": exactly({ tokenId: text, scope: z.enum(["read", "write"]), expiresAt: time }),
      "token.revoked": exactly({ tokenId: text }),
    },
  ],
  browserRun: [
    exactly({ type: z.literal("browserRun") }),
    {
      "crawl.started": exactly({ jobId: text, createdAt: time, crawlConfig }),
      "crawl.updated": exactly({ jobId: text, url: z.url(), crawlStatus: text, httpStatus: z.int() }),
      "crawl.finished": exactly({
        jobId: text,
        jobStatus: text,
        createdAt: time,
        finishedAt: time,
        total: z.int(),
        completed: z.int(),
        errored: z.int(),
        skipped: z.int(),
        crawlConfig,
      }),
    },
  ],
  "email.sending": [
    exactly({ type: z.literal("email.sending"), zoneId: id, domain: text }),
    {
      "message.delivered": exactly({ ...email, delivery }),
      "message.deferred": exactly({ ...email, delivery, bounce }),
      "message.bounced": exactly({ ...email, delivery, bounce }),
      "message.failed": exactly({ ...email, delivery: status("failed"), failure: exactly({ reason: text }) }),
      "message.rejected": exactly({
        ...email,
        delivery: status("rejected"),
        rejection: exactly({ reason: text, party: text, detail: text }),
      }),
      "message.complained": exactly({
        ...complained,
        delivery: status("complained"),
        complaint: exactly({ type: text }),
      }),
    },
  ],
  stream: [
    exactly({ type: z.literal("stream") }),
    { "video_state.ready": video, "video_state.updated": video },
  ],
  "stream.liveInput": [
    exactly({ type: z.literal("stream.liveInput"), liveInputId: id }),
    {
      "live_input.connected": liveInput,
      "live_input.disconnected": liveInput,
      "live_input.errored": liveInput,
    },
  ],
  "workers.script": [
    exactly({ type: z.literal("workers.script"), id }),
    {
      "worker.created": exactly(worker),
      "worker.updated": exactly({ ...worker, changed: z.record(z.string(), z.looseObject({})) }),
      "worker.deleted": exactly(worker),
      "version.created": version,
      "version.deleted": version,
      "deployment.created": exactly({
        ...worker,
        id: text,
        strategy: z.literal("percentage"),
        versions: z.array(exactly({ versionId: text, percentage: z.number() })),
      }),
      "deployment.deleted": version,
    },
  ],
};
const metadata = exactly({
  accountId: id,
  eventSubscriptionId: id,
  eventSchemaVersion: z.literal(1),
  eventTimestamp: time,
});
const r2Object = exactly({ key: text, size: z.int(), eTag: text });
const r2 = (action: string, object: z.ZodType) =>
  exactly({ account: id, bucket: text, eventTime: time, action: z.literal(action), object });

/** Schemas of all events by the names of their samples. */
const EXPECTED: Readonly<Record<string, z.ZodType>> = {
  "r2:object-create": r2("PutObject", r2Object),
  "r2:object-delete": r2("DeleteObject", exactly({ key: text })),
  ...Object.fromEntries(
    Object.entries(SCHEMAS).flatMap(([type, [source, payloads]]) =>
      Object.entries(payloads).map(([event, payload]) => [
        `${type}:${event}`,
        exactly({ type: z.literal(`cf.${type}.${event}`), source, payload, metadata }),
      ]),
    ),
  ),
};

it.each(samples)("the sample $name is an event as its source documents it", ({ name, body }) => {
  const checked = EXPECTED[name]?.safeParse(body);
  expect(checked?.error?.issues).toBeUndefined();
  expect(checked?.success).toBe(true);
});

it("there is a sample of every event whose schema is documented", () => {
  expect(samples.map(({ name }) => name).sort()).toEqual(Object.keys(EXPECTED).sort());
  const subscribable = eventsOfSources().flatMap(([source, events]) =>
    events.map((event) => `${source}:${event}`),
  );
  // Stream's changelog names these, its schemas do not.
  const undocumented = subscribable.filter((name) => !(name in EXPECTED));
  expect(undocumented.every((name) => /^stream:(caption|download)\./.test(name))).toBe(true);
  expect(undocumented).toHaveLength(6);
});

it("a sample is of the time that is asked for", () => {
  for (const { body } of samples) expect(JSON.stringify(body)).toContain("2026-11-26T12:00:00.005Z");
});
