import {
  isBucketName,
  keyPartProblem,
  R2_ACTIONS,
  type R2Bucket,
  type R2Reply,
  type R2RuleRecord,
} from "@sluice/protocol";
import { type Context, Hono } from "hono";
import * as z from "zod/mini";
import type { QueueDirectory } from "../../account/queue-directory.ts";
import { ruledBuckets } from "../../account/ruled-buckets.ts";
import { bodyText } from "../../http/body-text.ts";
import { parseJson } from "../../http/bounded-json.ts";
import { API_CODES, ApiError } from "../api-error.ts";
import { succeed } from "../envelope.ts";
import { firstIssue } from "../json-body.ts";
import { queueOf } from "../queue-lookup.ts";
import { errorOf } from "./refusal.ts";

/** A prefix or suffix of keys. */
const keyPart = z._default(
  z
    .string()
    .check(
      z.refine((text) => keyPartProblem(text) === null, {
        error: ({ input }) => `Must ${keyPartProblem(String(input))}`,
      }),
    ),
  "",
);
const rules = z.object({
  rules: z
    .array(
      z.object({
        actions: z.array(z.enum(R2_ACTIONS)).check(z.minLength(1, "Must name an action")),
        prefix: keyPart,
        suffix: keyPart,
        description: z.optional(z.string()),
      }),
    )
    .check(z.minLength(1, "Must have a rule")),
});
/** Body of a DELETE. Without a body, or without ids in it, all rules are deleted. */
const deletion = z.object({ ruleIds: z.optional(z.array(z.string())) });

/**
 * Routes of the event notification rules of R2 buckets, as `wrangler r2 bucket notification` uses them. A PUT adds
 * rules to those that there are.
 */
export function r2Routes({ account, r2, watchR2 }: QueueDirectory): Hono {
  const app = new Hono();
  const rulesOf = async (bucket: string): Promise<readonly R2RuleRecord[]> =>
    (await r2.listR2Buckets()).find((one) => one.bucket === bucket)?.rules ?? [];
  /** Has the writes to all buckets with rules reported, and to `more`. */
  const watchRuled = async (more: readonly string[] = []) => {
    await watchR2?.([...new Set([...(await r2.listR2Buckets()).map(({ bucket }) => bucket), ...more])]);
  };

  app.get("/:bucket/configuration", async (c) => {
    const bucketName = bucketOf(c);
    const all = await rulesOf(bucketName);
    const queues = [];
    for (const queueId of new Set(all.map((rule) => rule.queueId))) {
      const queue = await account.findById(queueId);
      if (queue !== null) queues.push(view(queue, all));
    }
    if (queues.length === 0) throw withoutRules(bucketName);
    return succeed(c, { bucketName, queues });
  });

  app.get("/:bucket/configuration/queues/:queue_id", async (c) => {
    const all = await rulesOf(bucketOf(c));
    const queue = await queueOf(c, account);
    if (all.length === 0) throw withoutRules(bucketOf(c));
    const shown = view(queue, all);
    if (shown.rules.length === 0) throw errorOf({ kind: "r2RuleNotFound" });
    return succeed(c, shown);
  });

  app.put("/:bucket/configuration/queues/:queue_id", async (c) => {
    const bucket = bucketOf(c);
    const { queueId } = await queueOf(c, account);
    const body = read(rules, await bodyText(c));
    if (watchR2 === null) {
      throw new ApiError(
        400,
        API_CODES.r2RuleInvalid,
        "This broker does not see writes to R2 buckets: run the Workers, and the buckets, by sluice dev.",
      );
    }
    // The bucket is watched before the rule exists, so no write after the answer is missed.
    await watchRuled([bucket]);
    const added = body.rules.map(({ description, actions, ...rule }) => ({
      ...rule,
      actions: [...new Set(actions)],
      ...(description === undefined ? {} : { description }),
    }));
    check(await r2.addR2Rules(bucket, queueId, added));
    // Another request may have replaced the watched buckets meanwhile, by a list without this one.
    await watchRuled();
    return succeed(c, {});
  });

  app.delete("/:bucket/configuration/queues/:queue_id", async (c) => {
    const bucket = bucketOf(c);
    const { queueId } = await queueOf(c, account);
    const { ruleIds } = read(deletion, (await bodyText(c)) || "{}");
    check(await r2.deleteR2Rules(bucket, queueId, ruleIds ?? null));
    await watchRuled();
    return succeed(c, {});
  });

  return app;
}

/** Throws ApiError 11017 for a queue that is notified of writes to a bucket. */
export async function refuseNotified(directory: QueueDirectory, queueId: string): Promise<void> {
  const isNotified = ({ rules }: R2Bucket) => rules.some((rule) => rule.queueId === queueId);
  const found = (await ruledBuckets(directory)).find(isNotified);
  if (found === undefined) return;
  throw new ApiError(
    409,
    API_CODES.queueHasR2Rules,
    `The queue has event notification rules of the R2 bucket '${found.bucket}': delete these first.`,
  );
}

function view({ queueId, name }: { queueId: string; name: string }, all: readonly R2RuleRecord[]) {
  const ofQueue = all.filter((rule) => rule.queueId === queueId);
  return {
    queueId,
    queueName: name,
    rules: ofQueue.map(({ ruleId, createdAtMs, prefix, suffix, actions, description }) => ({
      ruleId,
      createdAt: new Date(createdAtMs).toISOString(),
      prefix,
      suffix,
      actions,
      ...(description === undefined ? {} : { description }),
    })),
  };
}

function bucketOf(c: Context): string {
  const bucket = c.req.param("bucket") ?? "";
  if (isBucketName(bucket)) return bucket;
  throw new ApiError(400, API_CODES.r2BucketNameInvalid, `The bucket name '${bucket}' is not valid.`);
}

function withoutRules(bucket: string): ApiError {
  return new ApiError(
    404,
    API_CODES.r2BucketWithoutRules,
    `The R2 bucket '${bucket}' has no event notification rules.`,
  );
}

function check(reply: R2Reply): void {
  if (!reply.ok) throw errorOf(reply.refusal);
}

function read<T>(schema: z.ZodMiniType<T>, text: string): T {
  let body: unknown;
  try {
    body = parseJson(text);
  } catch {
    throw new ApiError(400, API_CODES.r2RuleInvalid, "The request body is not valid JSON.");
  }
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  throw new ApiError(400, API_CODES.r2RuleInvalid, `Invalid rules: ${firstIssue(result.error)}.`);
}
