import { effectsOf } from "../caller.ts";
import type { SnsContext } from "./context.ts";
import type { SnsActionName, SnsInput, SnsOutput } from "./model.ts";
import { publish, publishBatch } from "./publish/publish-actions.ts";
import { confirmSubscription, unsubscribe } from "./subscription/confirm-actions.ts";
import {
  getSubscriptionAttributes,
  listSubscriptions,
  listSubscriptionsByTopic,
  setSubscriptionAttributes,
  subscribe,
} from "./subscription/subscription-actions.ts";
import { addPermission, removePermission } from "./topic/permissions.ts";
import { listTagsForResource, tagResource, untagResource } from "./topic/tags.ts";
import {
  createTopic,
  deleteTopic,
  getTopicAttributes,
  listTopics,
  setTopicAttributes,
} from "./topic/topic-actions.ts";

type Handler<Name extends SnsActionName> = (
  context: SnsContext,
  input: SnsInput<Name>,
) => Promise<SnsOutput<Name> extends undefined ? unknown : SnsOutput<Name>>;

/** What carries each action out. */
export const SNS_HANDLERS: { readonly [Name in SnsActionName]: Handler<Name> } = {
  AddPermission: addPermission,
  ConfirmSubscription: confirmSubscription,
  CreateTopic: createTopic,
  DeleteTopic: deleteTopic,
  GetSubscriptionAttributes: getSubscriptionAttributes,
  GetTopicAttributes: getTopicAttributes,
  ListSubscriptions: listSubscriptions,
  ListSubscriptionsByTopic: listSubscriptionsByTopic,
  ListTagsForResource: listTagsForResource,
  ListTopics: listTopics,
  Publish: publish,
  PublishBatch: publishBatch,
  RemovePermission: removePermission,
  SetSubscriptionAttributes: setSubscriptionAttributes,
  SetTopicAttributes: setTopicAttributes,
  Subscribe: subscribe,
  TagResource: tagResource,
  Unsubscribe: unsubscribe,
  UntagResource: untagResource,
};

/**
 * What each action does. Those by token are links in messages: whoever has the token, or the ARN of a subscription,
 * which nobody can guess either, may call them without a signature (spec sns-delivery 9.1).
 */
export const SNS_EFFECTS = effectsOf(SNS_HANDLERS, {
  ConfirmSubscription: "byToken",
  Unsubscribe: "byToken",
});

export async function handle(context: SnsContext, action: string, input: object): Promise<object> {
  const handler = SNS_HANDLERS[action as SnsActionName] as (
    context: SnsContext,
    input: object,
  ) => Promise<object | undefined>;
  return (await handler(context, input)) ?? {};
}
