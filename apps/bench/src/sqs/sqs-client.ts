/** Answer to a call that is measured; only the parts that are looked at. */
export interface SqsAnswer {
  readonly QueueUrl?: string | undefined;
  readonly Successful?: readonly unknown[] | undefined;
  readonly Messages?:
    | readonly { readonly Body?: string | undefined; readonly ReceiptHandle?: string | undefined }[]
    | undefined;
}

/** A way to speak SQS. `call` carries an action out, and rejects when it is refused. */
export interface Protocol {
  call(action: string, input: Readonly<Record<string, unknown>>): Promise<SqsAnswer>;
  close(): Promise<void>;
}

/** Opens a way to speak with the endpoint of a server. */
export type OpenProtocol = (endpoint: string) => Protocol;

export type SqsClient = ReturnType<typeof sqsClient>;

/**
 * The part of SQS that is measured, the same for every way to speak it. Each call rejects unless all of it succeeded.
 * A batch has 10 entries at most.
 */
export function sqsClient({ call, close }: Protocol) {
  const batch = async (action: string, QueueUrl: string, fields: readonly object[]) => {
    const Entries = fields.map((each, i) => ({ Id: `${i}`, ...each }));
    const { Successful } = await call(action, { QueueUrl, Entries });
    if (Successful?.length !== Entries.length) throw new Error(`${action}: entries failed`);
  };
  return {
    /** @returns its URL. */
    async createQueue(QueueName: string): Promise<string> {
      const { QueueUrl } = await call("CreateQueue", { QueueName });
      if (QueueUrl === undefined) throw new Error("a queue was created without a URL");
      return QueueUrl;
    },
    async deleteQueue(QueueUrl: string): Promise<void> {
      await call("DeleteQueue", { QueueUrl });
    },
    async send(QueueUrl: string, MessageBody: string): Promise<void> {
      await call("SendMessage", { QueueUrl, MessageBody });
    },
    sendBatch: (queueUrl: string, bodies: readonly string[]) =>
      batch(
        "SendMessageBatch",
        queueUrl,
        bodies.map((MessageBody) => ({ MessageBody })),
      ),
    /** Receives up to 10 messages; waits for the first one up to `WaitTimeSeconds`. */
    async receive(QueueUrl: string, WaitTimeSeconds: number) {
      const input = { QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds };
      const { Messages = [] } = await call("ReceiveMessage", input);
      return Messages.map(({ Body = "", ReceiptHandle = "" }) => ({ body: Body, receipt: ReceiptHandle }));
    },
    deleteBatch: (queueUrl: string, receipts: readonly string[]) =>
      batch(
        "DeleteMessageBatch",
        queueUrl,
        receipts.map((ReceiptHandle) => ({ ReceiptHandle })),
      ),
    close,
  };
}
