/** What the clients of this benchmark ask for, in either protocol. */
export interface BareInput {
  readonly QueueName?: string;
  readonly MessageBody?: string;
  readonly WaitTimeSeconds?: number;
  readonly Entries?: readonly { readonly Id: string; readonly MessageBody?: string }[];
}

/** What is answered: texts, and lists of such. */
export type BareOutput = Readonly<Record<string, string | readonly Readonly<Record<string, string>>[]>>;

export interface BareCall {
  readonly action: string;
  readonly input: BareInput;
}

/** How requests and answers are written. */
export interface BareProtocol {
  readonly contentType: string;
  /** @param head of the request, with its line and headers. */
  read(head: string, body: string): BareCall;
  write(action: string, output: BareOutput): string;
}

const json: BareProtocol = {
  contentType: "application/x-amz-json-1.0",
  read: (head, body) => ({
    action: /x-amz-target: *AmazonSQS\.(\w+)/i.exec(head)?.[1] ?? "",
    input: JSON.parse(body) as BareInput,
  }),
  write: (_action, output) => JSON.stringify(output),
};

const query: BareProtocol = {
  contentType: "text/xml",
  read(_head, body) {
    const form = new URLSearchParams(body);
    const text = (name: string) => form.get(name) ?? "";
    const action = text("Action");
    const entries: { Id: string; MessageBody: string }[] = [];
    for (let i = 1; form.has(`${action}RequestEntry.${i}.Id`); i++) {
      const prefix = `${action}RequestEntry.${i}`;
      entries.push({ Id: text(`${prefix}.Id`), MessageBody: text(`${prefix}.MessageBody`) });
    }
    const [QueueName, MessageBody] = [text("QueueName"), text("MessageBody")];
    const WaitTimeSeconds = Number(text("WaitTimeSeconds"));
    return { action, input: { QueueName, MessageBody, WaitTimeSeconds, Entries: entries } };
  },
  write: (action, output) =>
    element(`${action}Response`, element(`${action}Result`, elementsOf(action, output))),
};

/** The protocol that a request is written in, by its head. */
export function protocolOf(head: string): BareProtocol {
  return /x-amz-target:/i.test(head) ? json : query;
}

/** What stands around each of a list. */
function entryNameOf(action: string, list: string): string {
  return list === "Messages" ? "Message" : `${action}ResultEntry`;
}

function elementsOf(action: string, output: BareOutput): string {
  let text = "";
  for (const [name, value] of Object.entries(output)) {
    if (typeof value === "string") text += element(name, escaped(value));
    else for (const one of value) text += element(entryNameOf(action, name), elementsOf(action, one));
  }
  return text;
}

function element(name: string, inner: string): string {
  return `<${name}>${inner}</${name}>`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
