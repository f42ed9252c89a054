import { needsOf } from "../../rights/rights.ts";
import { type AwsActions, effectsOf } from "../action.ts";
import type { SnsContext } from "./context.ts";
import type { SNS_ACTIONS } from "./model.ts";
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

const { READ, SEND, changing } = needsOf("every");

/** Every action. A topic can lead to any queue, so SNS needs rights to all of them. */
export const SNS_HANDLERS: AwsActions<SnsContext, typeof SNS_ACTIONS> = {
  AddPermission: { run: addPermission, need: changing("topic.change") },
  ConfirmSubscription: { run: confirmSubscription, need: changing("topic.confirm") },
  CreateTopic: { run: createTopic, need: changing("topic.create") },
  DeleteTopic: { run: deleteTopic, need: changing("topic.delete") },
  GetSubscriptionAttributes: { run: getSubscriptionAttributes, need: READ },
  GetTopicAttributes: { run: getTopicAttributes, need: READ },
  ListSubscriptions: { run: listSubscriptions, need: READ },
  ListSubscriptionsByTopic: { run: listSubscriptionsByTopic, need: READ },
  ListTagsForResource: { run: listTagsForResource, need: READ },
  ListTopics: { run: listTopics, need: READ },
  Publish: { run: publish, need: SEND },
  PublishBatch: { run: publishBatch, need: SEND },
  RemovePermission: { run: removePermission, need: changing("topic.change") },
  SetSubscriptionAttributes: { run: setSubscriptionAttributes, need: changing("subscription.change") },
  SetTopicAttributes: { run: setTopicAttributes, need: changing("topic.change") },
  Subscribe: { run: subscribe, need: changing("topic.subscribe") },
  TagResource: { run: tagResource, need: changing("topic.change") },
  Unsubscribe: { run: unsubscribe, need: changing("topic.unsubscribe") },
  UntagResource: { run: untagResource, need: changing("topic.change") },
};

/**
 * Effects of each action. Those by token are links in messages: a caller with the token, or with the ARN of a
 * subscription, which cannot be guessed either, may call them without a signature (spec sns-delivery 9.1).
 */
export const SNS_EFFECTS = effectsOf(SNS_HANDLERS, {
  ConfirmSubscription: "byToken",
  Unsubscribe: "byToken",
});
