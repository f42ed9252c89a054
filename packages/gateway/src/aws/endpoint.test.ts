import { expect, it, onTestFinished } from "vitest";
import { respondAws } from "./endpoint.ts";
import { AwsRequest } from "./request.ts";

/** Keeps the process busy until every timer of this moment is due. */
function beBusy(): void {
  const untilMs = performance.now() + 10;
  while (performance.now() < untilMs);
}

it("a client that disconnects as its messages come is gone before it is answered, on a busy machine too", async () => {
  const gone = new AbortController();
  const raw = new Request("http://a/", {
    method: "POST",
    headers: { "content-type": "application/x-amz-json-1.0", "x-amz-target": "AmazonSQS.ReceiveMessage" },
    signal: gone.signal,
  });
  const answer = async () => ({ status: 200, headers: {}, body: "messages", hasWaited: true });
  const services = { sqs: { answer }, sns: {}, isOpen: true } as never;
  // As the end of a connection, a message of a port is read when the event loop looks at what has arrived.
  const { port1: connection, port2: end } = new MessageChannel();
  onTestFinished(() => connection.close());
  connection.onmessage = () => gone.abort();

  const answered = new Promise<Response>((resolve) => {
    setImmediate(() => {
      end.postMessage("end");
      const request = new AwsRequest(raw);
      resolve(respondAws(request, () => {}, services, { looksForClients: false, isLocal: true }));
    });
    setImmediate(beBusy);
  });
  expect((await answered).status).toBe(200);
  expect(gone.signal.aborted).toBe(true);
});
