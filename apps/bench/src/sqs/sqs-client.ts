/** A message as a consumer needs it. */
export interface ReceivedMessage {
  readonly body: string;
  readonly receipt: string;
}

/**
 * The part of SQS that is measured, the same for every way to speak it. Each call rejects unless all of it succeeded.
 */
export interface SqsClient {
  /** @returns its URL. */
  createQueue(name: string): Promise<string>;
  deleteQueue(queueUrl: string): Promise<void>;
  send(queueUrl: string, body: string): Promise<void>;
  /** @param bodies 10 at most. */
  sendBatch(queueUrl: string, bodies: readonly string[]): Promise<void>;
  /** Up to 10 messages; waits for one as long as is said. */
  receive(queueUrl: string, waitSeconds: number): Promise<readonly ReceivedMessage[]>;
  /** @param receipts 10 at most. */
  deleteBatch(queueUrl: string, receipts: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

/** Opens a client of the endpoint of a server. */
export type OpenClient = (endpoint: string) => SqsClient;
