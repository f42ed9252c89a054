import { type R2Action, r2Notification } from "@sluice/protocol";
import {
  build,
  emails,
  type Fields,
  hex,
  liveInput,
  type Payloads,
  push,
  uuid,
  video,
} from "./event-payloads.ts";
import { LOCAL_ACCOUNT_ID } from "./local-account.ts";

/** Sample of an event that production sends to a queue. */
export interface EventSample {
  /** Its source and event: `r2:object-create`, `workersBuilds.worker:build.failed`. */
  readonly name: string;
  /** Body of the message. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** Makes a sample of each kind of event, as it would be sent now. @param nowMs in ms since 1970. */
export function eventSamples(nowMs: number): EventSample[] {
  return [
    objectSample("object-create", "PutObject", nowMs),
    objectSample("object-delete", "DeleteObject", nowMs),
    ...subscribedSamples(new Date(nowMs).toISOString()),
  ];
}

function objectSample(event: string, action: R2Action, nowMs: number): EventSample {
  const stored = action === "DeleteObject" ? null : { size: 65_536, eTag: hex("e", 32) };
  const write = { id: nowMs, action, key: "images/lamp.png", atMs: nowMs, stored };
  return { name: `r2:${event}`, body: { ...r2Notification(LOCAL_ACCOUNT_ID, "uploads", write) } };
}

/** Makes samples of the events that a queue can subscribe to, as Cloudflare's documentation shows them. */
function subscribedSamples(now: string): EventSample[] {
  const namespace = { id: hex("a", 32), name: "sessions" };
  const job = { id: uuid("a") };
  const done = {
    totalObjectsCount: 100,
    skippedObjectsCount: 1,
    migratedObjectsCount: 98,
    failedObjectsCount: 1,
  };
  const request = { requestId: uuid("b") };
  const instance = { versionId: uuid("c"), instanceId: uuid("d") };
  const application = { id: uuid("e"), name: "Back office" };
  const repo = {
    repoId: "lampshop00000000",
    defaultBranch: "main",
    description: "The lamp shop",
    readOnly: false,
    createdAt: now,
    updatedAt: now,
    lastPushAt: null,
  };
  const crawl = { jobId: uuid("f") };
  const crawlConfig = {
    url: "https://shop.example",
    limit: 10,
    depth: 2,
    render: true,
    formats: ["markdown"],
    source: "all",
  };
  const worker = { name: "shop" };
  const version = { ...worker, id: uuid("1") };
  return [
    ...samplesOf(
      now,
      { type: "r2" },
      {
        "bucket.created": {
          name: "uploads",
          jurisdiction: "default",
          location: "WNAM",
          storageClass: "Standard",
        },
        "bucket.deleted": { name: "uploads", jurisdiction: "default" },
      },
    ),
    ...samplesOf(now, { type: "kv" }, { "namespace.created": namespace, "namespace.deleted": namespace }),
    ...samplesOf(
      now,
      { type: "superSlurper" },
      {
        "job.started": {
          ...job,
          createdAt: now,
          overwrite: true,
          pathPrefix: "images/",
          source: {
            provider: "s3",
            bucket: "old-uploads",
            region: "us-east-1",
            endpoint: "s3.amazonaws.com",
          },
          destination: { provider: "r2", bucket: "uploads", jurisdiction: "default" },
        },
        "job.paused": job,
        "job.resumed": job,
        "job.completed": { ...job, ...done },
        "job.aborted": { ...job, ...done },
      },
    ),
    {
      name: "superSlurper:job.object.migrated",
      body: eventOf(
        now,
        "superSlurper.job.object.migrated",
        { type: "superSlurper.job", jobId: job.id },
        { key: "images/lamp.png" },
      ),
    },
    ...samplesOf(
      now,
      { type: "vectorize" },
      {
        "index.created": {
          name: "lamps",
          description: "Lamps by their looks",
          createdAt: now,
          modifiedAt: now,
          dimensions: 768,
          metric: "cosine",
        },
        "index.deleted": { name: "lamps" },
      },
    ),
    ...samplesOf(
      now,
      { type: "workersAi.model", modelName: "@cf/baai/bge-base-en-v1.5" },
      {
        "batch.queued": request,
        "batch.succeeded": request,
        "batch.failed": { ...request, message: "The model failed", internalCode: 5001, httpCode: 500 },
      },
    ),
    ...samplesOf(
      now,
      { type: "workersBuilds.worker", workerName: "shop" },
      {
        "build.started": build(now, "running", null),
        "build.failed": build(now, "failed", "failure"),
        "build.canceled": build(now, "canceled", "canceled"),
        "build.succeeded": build(now, "success", "success"),
      },
    ),
    ...samplesOf(
      now,
      { type: "workflows.workflow", workflowName: "checkout" },
      {
        "instance.queued": instance,
        "instance.started": instance,
        "instance.paused": instance,
        "instance.errored": instance,
        "instance.terminated": instance,
        "instance.completed": instance,
      },
    ),
    ...samplesOf(
      now,
      { type: "access" },
      { "application.created": application, "application.deleted": application },
    ),
    ...samplesOf(
      now,
      { type: "artifacts", namespace: "shop", repoName: "lamps" },
      {
        "repo.created": repo,
        "repo.deleted": repo,
        "repo.forked": { namespace: "shop", repoName: "lamps-copy", ...repo },
        "repo.imported": { ...repo, sourceUrl: "https://git.example/lamps.git", branch: "main" },
      },
    ),
    ...samplesOf(
      now,
      { type: "artifacts.repo", namespace: "shop", repoName: "lamps" },
      {
        pushed: push(now),
        cloned: {},
        fetched: {},
        "token.created": { tokenId: "token00000000000", scope: "read", expiresAt: now },
        "token.revoked": { tokenId: "token00000000000" },
      },
    ),
    ...samplesOf(
      now,
      { type: "browserRun" },
      {
        "crawl.started": { ...crawl, createdAt: now, crawlConfig },
        "crawl.updated": {
          ...crawl,
          url: "https://shop.example/lamps",
          crawlStatus: "completed",
          httpStatus: 200,
        },
        "crawl.finished": {
          ...crawl,
          jobStatus: "completed",
          createdAt: now,
          finishedAt: now,
          total: 3,
          completed: 2,
          errored: 1,
          skipped: 0,
          crawlConfig,
        },
      },
    ),
    ...samplesOf(now, { type: "email.sending", zoneId: hex("2", 32), domain: "shop.example" }, emails()),
    ...samplesOf(
      now,
      { type: "stream" },
      { "video_state.ready": video(now), "video_state.updated": video(now) },
    ),
    ...samplesOf(
      now,
      { type: "stream.liveInput", liveInputId: hex("3", 32) },
      {
        "live_input.connected": liveInput(now, "connected", null),
        "live_input.disconnected": liveInput(now, "disconnected", "clientDisconnect"),
        "live_input.errored": liveInput(now, "errored", "badRequest"),
      },
    ),
    ...samplesOf(
      now,
      { type: "workers.script", id: hex("4", 32) },
      {
        "worker.created": worker,
        "worker.updated": { ...worker, changed: { logpush: { from: false, to: true } } },
        "worker.deleted": worker,
        "version.created": version,
        "version.deleted": version,
        "deployment.created": {
          ...version,
          strategy: "percentage",
          versions: [{ versionId: uuid("5"), percentage: 100 }],
        },
        "deployment.deleted": version,
      },
    ),
  ];
}

function samplesOf(
  now: string,
  source: Fields & { readonly type: string },
  payloads: Payloads,
): EventSample[] {
  return Object.entries(payloads).map(([event, payload]) => ({
    name: `${source.type}:${event}`,
    body: eventOf(now, `${source.type}.${event}`, source, payload),
  }));
}

function eventOf(now: string, type: string, source: Fields, payload: Fields): Fields {
  const metadata = {
    accountId: LOCAL_ACCOUNT_ID,
    eventSubscriptionId: hex("0", 32),
    eventSchemaVersion: 1,
    eventTimestamp: now,
  };
  return { type: `cf.${type}`, source, payload, metadata };
}
