import {
  type Action,
  blob,
  boolean,
  flatList,
  flatMap,
  type InputOf,
  integer,
  type OutputOf,
  type ServiceModel,
  string,
  structure,
} from "@sluice/aws";

const attributeValue = structure({
  DataType: string,
  StringValue: string,
  BinaryValue: blob,
  StringListValues: flatList("StringListValue", string),
  BinaryListValues: flatList("BinaryListValue", blob),
});
const messageAttributes = flatMap("MessageAttribute", attributeValue);
const systemAttributes = flatMap("MessageSystemAttribute", attributeValue);
const queueAttributes = flatMap("Attribute", string);
const attributeNames = flatList("AttributeName", string);
const queueUrl = structure({ QueueUrl: string });
const urlList = flatList("QueueUrl", string);
const failed = flatList(
  "BatchResultErrorEntry",
  structure({ Id: string, SenderFault: boolean, Code: string, Message: string }),
);

const sendMembers = {
  MessageBody: string,
  DelaySeconds: integer,
  MessageAttributes: messageAttributes,
  MessageSystemAttributes: systemAttributes,
  MessageDeduplicationId: string,
  MessageGroupId: string,
};
const sendResultMembers = {
  MessageId: string,
  MD5OfMessageBody: string,
  MD5OfMessageAttributes: string,
  MD5OfMessageSystemAttributes: string,
  SequenceNumber: string,
};
/** `AttributeNames` and its newer name have one key in a form. */
const receiveNames = { AttributeNames: attributeNames, MessageSystemAttributeNames: attributeNames };

/** Every action of SQS with the shapes of its input and output (spec sqs 1.2, 1.3, 2.2 to 2.4). */
export const SQS_ACTIONS = {
  AddPermission: {
    input: structure({
      QueueUrl: string,
      Label: string,
      AWSAccountIds: flatList("AWSAccountId", string),
      Actions: flatList("ActionName", string),
    }),
    output: null,
  },
  CancelMessageMoveTask: {
    input: structure({ TaskHandle: string }),
    output: structure({ ApproximateNumberOfMessagesMoved: integer }),
  },
  ChangeMessageVisibility: {
    input: structure({ QueueUrl: string, ReceiptHandle: string, VisibilityTimeout: integer }),
    output: null,
  },
  ChangeMessageVisibilityBatch: {
    input: structure({
      QueueUrl: string,
      Entries: flatList(
        "ChangeMessageVisibilityBatchRequestEntry",
        structure({ Id: string, ReceiptHandle: string, VisibilityTimeout: integer }),
      ),
    }),
    output: structure({
      Successful: flatList("ChangeMessageVisibilityBatchResultEntry", structure({ Id: string })),
      Failed: failed,
    }),
  },
  CreateQueue: {
    input: structure({ QueueName: string, Attributes: queueAttributes, tags: flatMap("Tag", string, "Key") }),
    output: structure({ QueueUrl: string }),
  },
  DeleteMessage: { input: structure({ QueueUrl: string, ReceiptHandle: string }), output: null },
  DeleteMessageBatch: {
    input: structure({
      QueueUrl: string,
      Entries: flatList("DeleteMessageBatchRequestEntry", structure({ Id: string, ReceiptHandle: string })),
    }),
    output: structure({
      Successful: flatList("DeleteMessageBatchResultEntry", structure({ Id: string })),
      Failed: failed,
    }),
  },
  DeleteQueue: { input: queueUrl, output: null },
  GetQueueAttributes: {
    input: structure({ QueueUrl: string, AttributeNames: attributeNames }),
    output: structure({ Attributes: queueAttributes }),
  },
  GetQueueUrl: {
    input: structure({ QueueName: string, QueueOwnerAWSAccountId: string }),
    output: structure({ QueueUrl: string }),
  },
  ListDeadLetterSourceQueues: {
    input: structure({ QueueUrl: string, MaxResults: integer, NextToken: string }),
    output: structure({ queueUrls: urlList, NextToken: string }),
  },
  ListMessageMoveTasks: {
    input: structure({ SourceArn: string, MaxResults: integer }),
    output: structure({
      Results: flatList(
        "ListMessageMoveTasksResultEntry",
        structure({
          TaskHandle: string,
          Status: string,
          SourceArn: string,
          DestinationArn: string,
          MaxNumberOfMessagesPerSecond: integer,
          ApproximateNumberOfMessagesMoved: integer,
          ApproximateNumberOfMessagesToMove: integer,
          FailureReason: string,
          StartedTimestamp: integer,
        }),
      ),
    }),
  },
  ListQueues: {
    input: structure({ QueueNamePrefix: string, MaxResults: integer, NextToken: string }),
    output: structure({ QueueUrls: urlList, NextToken: string }),
  },
  ListQueueTags: { input: queueUrl, output: structure({ Tags: flatMap("Tag", string, "Key") }) },
  PurgeQueue: { input: queueUrl, output: null },
  ReceiveMessage: {
    input: structure({
      QueueUrl: string,
      ...receiveNames,
      MessageAttributeNames: flatList("MessageAttributeName", string),
      MaxNumberOfMessages: integer,
      VisibilityTimeout: integer,
      WaitTimeSeconds: integer,
      ReceiveRequestAttemptId: string,
    }),
    output: structure({
      Messages: flatList(
        "Message",
        structure({
          MessageId: string,
          ReceiptHandle: string,
          MD5OfBody: string,
          Body: string,
          Attributes: queueAttributes,
          MD5OfMessageAttributes: string,
          MessageAttributes: messageAttributes,
        }),
      ),
    }),
  },
  RemovePermission: { input: structure({ QueueUrl: string, Label: string }), output: null },
  SendMessage: {
    input: structure({ QueueUrl: string, ...sendMembers }),
    output: structure(sendResultMembers),
  },
  SendMessageBatch: {
    input: structure({
      QueueUrl: string,
      Entries: flatList("SendMessageBatchRequestEntry", structure({ Id: string, ...sendMembers })),
    }),
    output: structure({
      Successful: flatList("SendMessageBatchResultEntry", structure({ Id: string, ...sendResultMembers })),
      Failed: failed,
    }),
  },
  SetQueueAttributes: { input: structure({ QueueUrl: string, Attributes: queueAttributes }), output: null },
  StartMessageMoveTask: {
    input: structure({ SourceArn: string, DestinationArn: string, MaxNumberOfMessagesPerSecond: integer }),
    output: structure({ TaskHandle: string }),
  },
  TagQueue: { input: structure({ QueueUrl: string, Tags: flatMap("Tag", string, "Key") }), output: null },
  UntagQueue: { input: structure({ QueueUrl: string, TagKeys: flatList("TagKey", string) }), output: null },
} as const satisfies Record<string, Action>;

export type SqsActionName = keyof typeof SQS_ACTIONS;
export type SqsInput<Name extends SqsActionName> = InputOf<(typeof SQS_ACTIONS)[Name]>;
export type SqsOutput<Name extends SqsActionName> = OutputOf<(typeof SQS_ACTIONS)[Name]>;

export const SQS_MODEL: ServiceModel = {
  targetPrefix: "AmazonSQS",
  namespace: "http://queue.amazonaws.com/doc/2012-11-05/",
  actions: SQS_ACTIONS,
  hasErrorDetail: true,
  queryJsonNames: { Messages: "messages", QueueUrls: "queueUrls" },
};
