import type { Payload } from "../workload/payload.ts";
import { BeanstalkdConnection } from "./beanstalkd-connection.ts";
import { type ConnectPeer, preciseNow } from "./peer-client.ts";

/** Connections that reserve: one blocks in `reserve` until it has a job. */
const CONSUMERS = 30;

export const connectBeanstalkd: ConnectPeer = async ({ port }, handled) => {
  const producer = await BeanstalkdConnection.open(port);
  const consumers = await Promise.all(
    Array.from({ length: CONSUMERS }, () => BeanstalkdConnection.open(port)),
  );
  let closing = false;
  const consume = async (connection: BeanstalkdConnection) => {
    let job = connection.reserve();
    for (;;) {
      const { id, body } = await job;
      const nowMs = preciseNow();
      const deleted = connection.delete(id);
      // Goes out in the same write as the delete.
      job = connection.reserve();
      await deleted;
      handled.note((JSON.parse(body) as Payload).sentMs, nowMs);
    }
  };
  for (const connection of consumers) {
    consume(connection).catch((error: unknown) => {
      if (!closing) console.error(error);
    });
  }
  const put = (job: Payload) => producer.put(JSON.stringify(job));
  return {
    send: put,
    sendHundred: (payloads) => Promise.all(payloads.map(put)),
    async close() {
      closing = true;
      for (const connection of [producer, ...consumers]) connection.close();
    },
  };
};
