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

/** Actions that whoever has a token or an ARN may call without a signature: they are links in messages. */
export const UNSIGNED_ACTIONS: readonly string[] = ["ConfirmSubscription", "Unsubscribe"];

export async function handle(context: SnsContext, action: string, input: object): Promise<object> {
  const handler = SNS_HANDLERS[action as SnsActionName] as (
    context: SnsContext,
    input: object,
  ) => Promise<object | undefined>;
  return (await handler(context, input)) ?? {};
}
