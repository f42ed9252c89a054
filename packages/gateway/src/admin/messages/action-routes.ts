import { encodeAttributes } from "@sluice/aws";
import { MESSAGE_BYTES_MAX, type MessageExtension, packMessages, type QueueRecord } from "@sluice/protocol";
import { Hono } from "hono";
import type { QueueDirectory } from "../../account/queue-directory.ts";
import { traceOfRequest } from "../../http/trace-of-request.ts";
import { AdminError, queueNotFound } from "../failure.ts";
import { checkQueue, queueOf } from "../queue-of.ts";
import { messageGone, messageOf, unfinishedMessageOf } from "./find-message.ts";
import {
  type GivenBody,
  RESEND_TEXT,
  readBody,
  resendBody,
  retyped,
  SEND_TEXT,
  type StoredBody,
  sendBody,
  storedBody,
} from "./read-body.ts";
import { storeMessages } from "./store-messages.ts";

/** Routes of actions by hand on single messages. */
export function actionRoutes(directory: QueueDirectory): Hono {
  const app = new Hono();

  app.post("/:name/messages", async (c) => {
    const record = await queueOf(c, directory);
    const { delaySeconds, attributes = {}, group, ...given } = await readBody(c, sendBody, SEND_TEXT);
    const named = Object.entries(attributes).map(([key, StringValue]) => [
      key,
      { DataType: "String", StringValue },
    ]);
    const stored = encodeAttributes({ attributes: Object.fromEntries(named), traceHeader: null });
    const trace = traceOfRequest(c.req.raw.headers);
    const extension: MessageExtension = {
      ...(group === undefined ? {} : { groupId: group }),
      ...(stored === undefined ? {} : { attributes: stored }),
      ...(trace === null ? {} : { trace }),
    };
    return c.json(await send(directory, record, storedBody(given), extension, delaySeconds));
  });

  app.delete("/:name/messages/:id", async (c) => {
    const { name } = await queueOf(c, directory);
    const { id, ref } = await unfinishedMessageOf(directory, name, c.req.param("id"));
    const { deleted } = await directory.queue(name).deleteByRefs(name, [ref]);
    if (deleted === 0) throw messageGone(name, id);
    return c.json({ id, deleted: true });
  });

  app.post("/:name/messages/:id/retry", async (c) => {
    const { name } = await queueOf(c, directory);
    const { id, ref } = await unfinishedMessageOf(directory, name, c.req.param("id"));
    const [made = "gone"] = await directory.queue(name).makeDue(name, [ref]);
    if (made === "gone") throw messageGone(name, id);
    return c.json({ id, wasDue: made === "wasDue" });
  });

  app.post("/:name/messages/:id/resend", async (c) => {
    const source = await queueOf(c, directory);
    const { to, delaySeconds, ...edited } = await readBody(c, resendBody, RESEND_TEXT);
    if (to !== undefined) checkQueue(c, to);
    const target = to === undefined ? source : await directory.account.findByName(to);
    if (target === null) throw queueNotFound(to ?? "");
    const message = await messageOf(directory, source.name, c.req.param("id"));
    const extension: MessageExtension = {
      ...(message.group === null ? {} : { groupId: message.group }),
      ...(message.attributes === null ? {} : { attributes: message.attributes }),
      ...(message.trace === undefined ? {} : { trace: message.trace }),
    };
    return c.json(await send(directory, target, bodyOf(message, edited), extension, delaySeconds));
  });

  return app;
}

/** Makes the body of a message that is sent again. */
function bodyOf({ contentType, body }: StoredBody, edited: GivenBody): StoredBody {
  const type = edited.contentType;
  if (edited.body === undefined && edited.text === undefined)
    return type === undefined ? { contentType, body } : retyped(body, type);
  const isText = edited.text !== undefined || typeof edited.body === "string";
  const kept = contentType === "v8" || !isText ? undefined : contentType;
  return storedBody({ ...edited, contentType: type ?? kept });
}

/** Stores a message under a new id. Throws `AdminError` where the queue takes none. */
async function send(
  directory: QueueDirectory,
  { name, definition }: QueueRecord,
  { contentType, body }: StoredBody,
  extension: MessageExtension,
  delaySeconds: number | undefined,
): Promise<{ readonly queue: string; readonly id: string }> {
  if (definition.fifo !== undefined && extension.groupId === undefined) {
    throw new AdminError(400, "group_required", `"${name}" is a FIFO queue: a message of it needs a group.`);
  }
  const id = crypto.randomUUID().replaceAll("-", "");
  const delay = delaySeconds === undefined ? {} : { delaySeconds };
  const packed = packMessages([{ id, contentType, body, extension, ...delay }]);
  await storeMessages(directory, name, { packed }, body.byteLength > MESSAGE_BYTES_MAX);
  return { queue: name, id };
}
