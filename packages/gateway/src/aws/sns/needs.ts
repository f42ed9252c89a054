import type { Need } from "../../rights/rights.ts";
import type { SnsActionName } from "./model.ts";

const READ: Need = { scope: "read", queues: "every" };
const SEND: Need = { scope: "send", queues: "every" };
const changing = (audit: string): Need => ({ scope: "admin", queues: "every", audit });

/** What each action needs. A topic leads to whatever queues: SNS is for who may use all of them. */
export const SNS_NEEDS: Readonly<Record<SnsActionName, Need>> = {
  AddPermission: changing("topic.change"),
  ConfirmSubscription: changing("topic.confirm"),
  CreateTopic: changing("topic.create"),
  DeleteTopic: changing("topic.delete"),
  GetSubscriptionAttributes: READ,
  GetTopicAttributes: READ,
  ListSubscriptions: READ,
  ListSubscriptionsByTopic: READ,
  ListTagsForResource: READ,
  ListTopics: READ,
  Publish: SEND,
  PublishBatch: SEND,
  RemovePermission: changing("topic.change"),
  SetSubscriptionAttributes: changing("subscription.change"),
  SetTopicAttributes: changing("topic.change"),
  Subscribe: changing("topic.subscribe"),
  TagResource: changing("topic.change"),
  Unsubscribe: changing("topic.unsubscribe"),
  UntagResource: changing("topic.change"),
};
