/** Answer to a call; only the members that are used. */
export interface SqsAnswer {
  readonly QueueUrl?: string | undefined;
  readonly Successful?: readonly unknown[] | undefined;
  readonly Messages?:
    | readonly { readonly Body?: string | undefined; readonly ReceiptHandle?: string | undefined }[]
    | undefined;
}

/** Protocol of SQS, opened for one server. `call` carries an action out, and rejects if it is refused. */
export interface Protocol {
  call(action: string, input: Readonly<Record<string, unknown>>): Promise<SqsAnswer>;
  close(): Promise<void>;
}

export type OpenProtocol = (endpoint: string) => Protocol;

export type SqsClient = ReturnType<typeof sqsClient>;

/**
 * Makes a client with the measured actions of SQS, over any protocol. A call rejects if any of its entries failed. A
 * batch has at most 10 entries.
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
