import { hash, randomUUID } from "node:crypto";
import { fsyncSync, openSync, writeSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { type BareInput, type BareOutput, protocolOf } from "./bare-protocols.ts";
import { BareQueue } from "./bare-queue.ts";

/*
 * What Node.js and the disk alone take: `bare-server.ts PORT FILE`. It reads requests as the clients of this benchmark write
 * them and nothing else, makes the digests that an SDK looks at, and writes and syncs once what came in one moment. Behind it is
 * a list of texts: no visibility, no attributes, no errors, nothing that could be read back after a crash.
 */
const [port, file = ""] = process.argv.slice(2);
const FILE_BYTES = 16_777_216;
const HEAD_END = "\r\n\r\n";

interface Request {
  readonly socket: Socket;
  readonly head: string;
  readonly body: Buffer;
}

let queue = new BareQueue();
const log = openSync(file, "w+");
// To write where the file ends already takes less.
writeSync(log, Buffer.alloc(FILE_BYTES));
fsyncSync(log);
let at = 0;
let moment: Request[] = [];

function take(request: Request): void {
  moment.push(request);
  if (moment.length === 1) setImmediate(answerAll);
}

function answerAll(): void {
  const requests = moment;
  moment = [];
  const bytes = Buffer.concat(requests.map(({ body }) => body));
  if (at + bytes.byteLength > FILE_BYTES) at = 0;
  at += writeSync(log, bytes, 0, bytes.byteLength, at);
  fsyncSync(log);
  for (const request of requests) answer(request);
}

function answer({ socket, head, body }: Request): void {
  const protocol = protocolOf(head);
  const { action, input } = protocol.read(head, body.toString());
  const give = (output: BareOutput) => write(socket, protocol.contentType, protocol.write(action, output));
  if (action === "ReceiveMessage") queue.receive(input.WaitTimeSeconds ?? 0, (bodies) => give(shown(bodies)));
  else give(outputOf(action, input));
}

function outputOf(action: string, { QueueName, MessageBody = "", Entries = [] }: BareInput): BareOutput {
  switch (action) {
    case "CreateQueue":
      return { QueueUrl: `http://127.0.0.1:${port}/000000000000/${QueueName}` };
    case "SendMessage":
      return sent(MessageBody);
    case "SendMessageBatch":
      return { Successful: Entries.map(({ Id, MessageBody: body = "" }) => ({ Id, ...sent(body) })) };
    case "DeleteQueue":
      queue = new BareQueue();
      return {};
    case "DeleteMessageBatch":
      return { Successful: Entries.map(({ Id }) => ({ Id })) };
    default:
      return {};
  }
}

function sent(body: string) {
  queue.add(body);
  return { MessageId: randomUUID(), MD5OfMessageBody: hash("md5", body) };
}

function shown(bodies: readonly string[]): BareOutput {
  const one = (Body: string) => {
    const [MessageId, ReceiptHandle] = [randomUUID(), randomUUID()];
    return { MessageId, ReceiptHandle, MD5OfBody: hash("md5", Body), Body };
  };
  return bodies.length === 0 ? {} : { Messages: bodies.map(one) };
}

function write(socket: Socket, contentType: string, text: string): void {
  socket.write(
    `HTTP/1.1 200 OK\r\ncontent-type: ${contentType}\r\nx-amzn-requestid: ${randomUUID()}\r\n` +
      `content-length: ${Buffer.byteLength(text)}${HEAD_END}${text}`,
  );
}

createServer({ noDelay: true }, (socket) => {
  let read: Buffer = Buffer.alloc(0);
  socket.on("error", () => socket.destroy());
  socket.on("data", (chunk) => {
    read = read.byteLength === 0 ? chunk : Buffer.concat([read, chunk]);
    const headEnd = read.indexOf(HEAD_END);
    if (headEnd === -1) return;
    const head = read.toString("latin1", 0, headEnd);
    const start = headEnd + HEAD_END.length;
    const end = start + Number(/content-length: *(\d+)/i.exec(head)?.[1] ?? 0);
    if (read.byteLength < end) return;
    const body = read.subarray(start, end);
    // A client sends the next request when it has its answer.
    read = read.subarray(end);
    take({ socket, head, body });
  });
}).listen(Number(port), "127.0.0.1");
