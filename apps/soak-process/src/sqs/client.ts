/** Error with which SQS refuses a request. */
export class SqsRefusal extends Error {
  /** Code without its namespace, such as `ServiceUnavailable`. */
  readonly code: string;
  readonly status: number;

  constructor(code: string, status: number, message: string) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

/** Error of a call that was not answered: the broker cannot be reached, has ended meanwhile, or the call was aborted. */
export class NoAnswer extends Error {}

export interface ReceivedMessage {
  readonly MessageId: string;
  readonly ReceiptHandle: string;
  readonly Body: string;
  readonly Attributes?: Readonly<Record<string, string>>;
}

interface BatchAnswer {
  readonly Successful?: readonly { readonly Id: string }[];
  readonly Failed?: readonly { readonly Id: string; readonly Code: string; readonly Message?: string }[];
}

/** Answers by action; only the members that are used. */
interface Answers {
  readonly CreateQueue: { readonly QueueUrl: string };
  readonly SendMessage: { readonly MessageId: string };
  readonly SendMessageBatch: BatchAnswer;
  readonly ReceiveMessage: { readonly Messages?: readonly ReceivedMessage[] };
  readonly DeleteMessage: object;
  readonly DeleteMessageBatch: BatchAnswer;
  readonly ChangeMessageVisibility: object;
}

/**
 * Calls SQS by AWS's JSON protocol, as the SDKs do, without retries.
 *
 * @throws SqsRefusal if the call is refused; NoAnswer if there is no answer.
 */
export async function sqs<Action extends keyof Answers>(
  endpoint: string,
  action: Action,
  input: object,
  signal?: AbortSignal,
): Promise<Answers[Action]> {
  const { response, text } = await answerTo(endpoint, {
    method: "POST",
    headers: { "content-type": "application/x-amz-json-1.0", "x-amz-target": `AmazonSQS.${action}` },
    body: JSON.stringify(input),
    ...(signal === undefined ? {} : { signal }),
  });
  if (response.ok) return (text === "" ? {} : JSON.parse(text)) as Answers[Action];
  const { __type: type = "", message = text } = JSON.parse(text) as { __type?: string; message?: string };
  throw new SqsRefusal(type.replace(/^.*#/, ""), response.status, message);
}

async function answerTo(url: string, request: RequestInit): Promise<{ response: Response; text: string }> {
  try {
    const response = await fetch(url, request);
    return { response, text: await response.text() };
  } catch (error) {
    throw new NoAnswer("the broker did not answer", { cause: error });
  }
}
