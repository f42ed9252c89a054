import { type DirectoryRefusal, type DirectoryReply, type QueueRecord, R2_RULES_MAX } from "@sluice/protocol";
import { SHARDS_REFUSED } from "../../account/shards-refused.ts";
import { shownName } from "../../rights/other-queues.ts";
import type { Rights } from "../../rights/rights.ts";
import { API_CODES, ApiError } from "../api-error.ts";

/**
 * Returns the record of a change that was made, or throws the refusal in Cloudflare's codes (spec cloudflare-queues
 * 6.8, 10).
 *
 * @param rights rights of the caller, for refusals that name queues other than the changed one.
 */
export function recordIn(reply: DirectoryReply, rights?: Rights): QueueRecord {
  if (reply.ok) return reply.record;
  const { refusal } = reply;
  if (refusal.kind !== "deadLetterCycle" || rights === undefined) throw errorOf(refusal);
  throw errorOf({ ...refusal, queues: refusal.queues.map((name) => shownName(rights, name)) });
}

export function errorOf(refusal: DirectoryRefusal): ApiError {
  switch (refusal.kind) {
    case "queueNotFound":
      return new ApiError(404, API_CODES.queueNotFound, "There is no such queue.");
    case "changedMeanwhile":
      return new ApiError(409, API_CODES.none, "Another request has changed the queue meanwhile; try again.");
    case "queueNameTaken":
      return new ApiError(
        409,
        API_CODES.queueNameTaken,
        `Queue name '${refusal.name}' is already taken. Please use a different name and try again.`,
      );
    case "tooManyQueues":
      return new ApiError(
        400,
        API_CODES.queueSettingsInvalid,
        "This account has 10,000 queues, which is the most it can have.",
      );
    case "consumerExists":
      return new ApiError(
        409,
        API_CODES.consumerExists,
        `Queue '${refusal.name}' (UUID '${refusal.queueId}') already has a consumer.`,
      );
    case "consumerNotFound":
      return new ApiError(404, API_CODES.consumerNotFound, "The queue has no consumer with this id.");
    case "deadLetterCycle":
      return new ApiError(400, API_CODES.consumerSettingsInvalid, cycleText(refusal.queues));
    case "otherJurisdiction":
      return new ApiError(
        400,
        API_CODES.consumerSettingsInvalid,
        `Dead letters of queue '${refusal.queue}' cannot go to queue '${refusal.deadLetterQueue}', which is in ` +
          "another jurisdiction.",
      );
    case "shardsRefused":
      return new ApiError(400, API_CODES.queueSettingsInvalid, SHARDS_REFUSED[refusal.reason]);
    case "subscriptionNotFound":
      return new ApiError(404, API_CODES.none, "There is no subscription with this id.");
    case "sourceSubscribed":
      return new ApiError(405, API_CODES.none, "There is a subscription for this source already.");
    case "r2RulesOverlap":
      return new ApiError(
        409,
        API_CODES.r2RulesOverlap,
        "An event notification rule overlaps another one of this bucket and queue: the queue would be notified twice.",
      );
    case "r2RulesTooMany":
      return new ApiError(
        400,
        API_CODES.r2RuleInvalid,
        `A bucket can have at most ${R2_RULES_MAX} event notification rules.`,
      );
    case "r2RuleNotFound":
      return new ApiError(
        404,
        API_CODES.r2RuleNotFound,
        "The bucket has no such event notification rule for this queue.",
      );
  }
}

function cycleText(queues: readonly string[]): string {
  const [first = ""] = queues;
  if (queues.length === 1) return `The dead-letter queue of queue '${first}' cannot be itself.`;
  return `Dead letters would go in a circle: ${[...queues, first].map((name) => `'${name}'`).join(" -> ")}.`;
}
