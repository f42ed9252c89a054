import { parseArn } from "@sluice/aws";
import { pluralIs } from "@sluice/protocol/words";
import type { SnsContext } from "../context.ts";
import { invalid, refuse, required, SNS_ERRORS } from "../errors.ts";
import type { SnsInput, SnsOutput } from "../model.ts";
import { isToken, newToken, sendConfirmation } from "./confirmations.ts";
import { subscribeRefusal, topicOfSubscription } from "./subscription-actions.ts";

/** Elements of a topic's ARN; that of a subscription has one more. */
const TOPIC_ARN_ELEMENTS = 6;

/**
 * Confirms a subscription by its token (spec sns-delivery 8.5), by a call or by a visit to `SubscribeURL`. The token
 * decides; the topic that is named only has to be of the same region. Repeated calls answer the same.
 */
export async function confirmSubscription(
  { ports, isSigned }: SnsContext,
  { TopicArn, Token, AuthenticateOnUnsubscribe }: SnsInput<"ConfirmSubscription">,
): Promise<SnsOutput<"ConfirmSubscription">> {
  const token = required(Token, "token");
  const topicArn = parseArn(required(TopicArn, "topicArn"));
  if (topicArn === null) throw invalid("Topic");
  if (!isToken(token)) {
    throw isSigned ? refuse(SNS_ERRORS.invalidParameter, "Invalid token") : invalid("Token");
  }
  const reply = await ports.topics.confirmSubscription({
    token,
    region: topicArn.region,
    isAuthenticated: isSigned,
    authenticateOnUnsubscribe: AuthenticateOnUnsubscribe?.toLowerCase() === "true",
  });
  if (!reply.ok) throw confirmRefusal(reply.refusal.kind);
  return { SubscriptionArn: reply.subscription.arn };
}

function confirmRefusal(kind: string): Error {
  if (kind === "topicOfOtherRegion") return invalid("Topic");
  return kind === "tokenUnknown" ? invalid("Token") : subscribeRefusal(kind);
}

/**
 * Ends a subscription; one that does not exist has ended. A caller without a signature may end one too, unless it was
 * confirmed with `AuthenticateOnUnsubscribe`; its endpoint gets a message by which it can take that back.
 */
export async function unsubscribe(
  context: SnsContext,
  { SubscriptionArn: arn }: SnsInput<"Unsubscribe">,
): Promise<void> {
  checkArn(arn);
  const { ports, isSigned } = context;
  const subscription = await ports.topics.findTopicSubscription(arn);
  if (subscription === null) return;
  const { status, protocol, target } = subscription;
  if (status.kind === "pending") {
    throw invalid("SubscriptionArn Reason: a subscription that is not confirmed cannot be deleted");
  }
  if (status.kind === "confirmed" && status.authenticateOnUnsubscribe && !isSigned) {
    throw refuse(SNS_ERRORS.authorizationError, "Only the owner of the subscription may unsubscribe");
  }
  if (isSigned || protocol === "sqs") {
    await ports.topics.unsubscribe(arn, null);
    return;
  }
  const topic = await topicOfSubscription(context, subscription);
  const token = newToken();
  const reply = await ports.topics.unsubscribe(arn, token);
  if (!reply.ok) return;
  // Messages that are still on their way go with the subscription.
  const { purged } = await ports.queue(target).purge(target);
  if (purged > 0) console.warn(`SNS: ${pluralIs(purged, "message")} deleted with the subscription "${arn}"`);
  await sendConfirmation(context, "UnsubscribeConfirmation", topic, subscription, token);
}

function checkArn(arn: string | undefined): asserts arn is string {
  if (arn === undefined || arn === "") {
    throw invalid("SubscriptionArn Reason: no value for required parameter");
  }
  const elements = arn.split(":").length;
  if (elements < TOPIC_ARN_ELEMENTS) {
    throw invalid(`SubscriptionArn Reason: An ARN must have at least 6 elements, not ${elements}`);
  }
  if (elements === TOPIC_ARN_ELEMENTS) throw invalid("SubscriptionId");
}
