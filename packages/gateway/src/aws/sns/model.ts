import {
  type Action,
  blob,
  boolean,
  entryMap,
  type InputOf,
  memberList,
  type OutputOf,
  type ServiceModel,
  string,
  structure,
} from "@sluice/aws";

const messageAttributes = entryMap(
  structure({ DataType: string, StringValue: string, BinaryValue: blob }),
  "Name",
  "Value",
);
const attributes = entryMap(string);
const tags = memberList(structure({ Key: string, Value: string }));
const topicArn = structure({ TopicArn: string });
const subscriptionArn = structure({ SubscriptionArn: string });
const subscriptions = memberList(
  structure({ SubscriptionArn: string, Owner: string, Protocol: string, Endpoint: string, TopicArn: string }),
);
const publishMembers = {
  Message: string,
  Subject: string,
  MessageStructure: string,
  MessageAttributes: messageAttributes,
  MessageDeduplicationId: string,
  MessageGroupId: string,
};

/**
 * The actions of SNS about topics and subscriptions, with the shapes of their inputs and outputs (spec sns-delivery 9).
 */
export const SNS_ACTIONS = {
  AddPermission: {
    input: structure({
      TopicArn: string,
      Label: string,
      AWSAccountId: memberList(string),
      ActionName: memberList(string),
    }),
    output: null,
  },
  ConfirmSubscription: {
    input: structure({ TopicArn: string, Token: string, AuthenticateOnUnsubscribe: string }),
    output: subscriptionArn,
  },
  CreateTopic: {
    input: structure({ Name: string, Attributes: attributes, Tags: tags, DataProtectionPolicy: string }),
    output: topicArn,
  },
  DeleteTopic: { input: topicArn, output: null },
  GetSubscriptionAttributes: { input: subscriptionArn, output: structure({ Attributes: attributes }) },
  GetTopicAttributes: { input: topicArn, output: structure({ Attributes: attributes }) },
  ListSubscriptions: {
    input: structure({ NextToken: string }),
    output: structure({ Subscriptions: subscriptions, NextToken: string }),
  },
  ListSubscriptionsByTopic: {
    input: structure({ TopicArn: string, NextToken: string }),
    output: structure({ Subscriptions: subscriptions, NextToken: string }),
  },
  ListTagsForResource: { input: structure({ ResourceArn: string }), output: structure({ Tags: tags }) },
  ListTopics: {
    input: structure({ NextToken: string }),
    output: structure({ Topics: memberList(topicArn), NextToken: string }),
  },
  Publish: {
    input: structure({ TopicArn: string, TargetArn: string, PhoneNumber: string, ...publishMembers }),
    output: structure({ MessageId: string, SequenceNumber: string }),
  },
  PublishBatch: {
    input: structure({
      TopicArn: string,
      PublishBatchRequestEntries: memberList(structure({ Id: string, ...publishMembers })),
    }),
    output: structure({
      Successful: memberList(structure({ Id: string, MessageId: string, SequenceNumber: string })),
      Failed: memberList(structure({ Id: string, Code: string, Message: string, SenderFault: boolean })),
    }),
  },
  RemovePermission: { input: structure({ TopicArn: string, Label: string }), output: null },
  SetSubscriptionAttributes: {
    input: structure({ SubscriptionArn: string, AttributeName: string, AttributeValue: string }),
    output: null,
  },
  SetTopicAttributes: {
    input: structure({ TopicArn: string, AttributeName: string, AttributeValue: string }),
    output: null,
  },
  Subscribe: {
    input: structure({
      TopicArn: string,
      Protocol: string,
      Endpoint: string,
      Attributes: attributes,
      ReturnSubscriptionArn: boolean,
    }),
    output: subscriptionArn,
  },
  TagResource: { input: structure({ ResourceArn: string, Tags: tags }), output: structure({}) },
  Unsubscribe: { input: subscriptionArn, output: null },
  UntagResource: {
    input: structure({ ResourceArn: string, TagKeys: memberList(string) }),
    output: structure({}),
  },
} as const satisfies Record<string, Action>;

export type SnsActionName = keyof typeof SNS_ACTIONS;
export type SnsInput<Name extends SnsActionName> = InputOf<(typeof SNS_ACTIONS)[Name]>;
export type SnsOutput<Name extends SnsActionName> = OutputOf<(typeof SNS_ACTIONS)[Name]>;

/** Version of SNS's API, which tells its requests from those of SQS. */
export const SNS_VERSION = "2010-03-31";

export const SNS_MODEL: ServiceModel = {
  targetPrefix: null,
  namespace: `http://sns.amazonaws.com/doc/${SNS_VERSION}/`,
  actions: SNS_ACTIONS,
  hasErrorDetail: false,
};
