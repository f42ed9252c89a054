/** Schemas of a queue's settings: checked where settings come in as a whole, and where stored ones are read. */
export { queueName, retryPolicy } from "./base.ts";
export { consumerSchema } from "./consumer.ts";
export {
  dialectsSchema,
  issueText,
  jurisdictionSchema,
  queueDefinitionSchema,
  queueSettingsSchema,
  unreadableRecord,
} from "./queue.ts";
export { UNREADABLE_ROWS, type Unreadable } from "./stored.ts";
