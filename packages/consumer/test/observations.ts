/**
 * Observations that a handler can make of its batch, its messages and its context. Each is compared between the two
 * dispatches.
 */
// biome-ignore lint/suspicious/noExplicitAny: they look where the types say there is nothing.
type Anything = any;
type Observation = (seen: {
  readonly batch: Anything;
  readonly env: Anything;
  readonly ctx: Anything;
  readonly self: Anything;
  /** A class of entrypoints that says whether its context is the one given. */
  readonly Other: Anything;
}) => unknown;

const sameTwice = (access: () => unknown) => Object.is(access(), access());
const keysOf = (thing: object) => [Object.keys(thing), Object.getOwnPropertyNames(thing)];
const methodsOf = (thing: object) => Object.getOwnPropertyNames(Object.getPrototypeOf(thing)).sort();

export const OBSERVATIONS: Record<string, Observation> = {
  print: ({ batch }) => {
    console.log(batch);
    console.log(batch.messages[3]);
    console.log([batch.messages[0]], { metadata: batch.metadata });
  },
  "keys of a batch": ({ batch }) => keysOf(batch),
  "keys of a message": ({ batch }) => keysOf(batch.messages[0]),
  "methods of a batch": ({ batch }) => methodsOf(batch),
  "methods of a message": ({ batch }) => methodsOf(batch.messages[0]),
  "tags and class names": ({ batch }) =>
    [batch, batch.messages[0]].map((thing) => [
      Object.prototype.toString.call(thing),
      thing.constructor.name,
    ]),
  "a batch as JSON": ({ batch }) => batch,
  "a message spread": ({ batch }) => ({ ...batch.messages[1] }),
  "messages is an array that can be changed": ({ batch }) => [
    Array.isArray(batch.messages),
    Object.isFrozen(batch.messages),
  ],
  "changing messages does not last": ({ batch }) => {
    batch.messages.reverse();
    batch.messages.length = 0;
    return batch.messages.map(({ id }: Message) => id);
  },
  "messages are the same at every access, their array is not": ({ batch }) => [
    sameTwice(() => batch.messages[0]),
    sameTwice(() => batch.messages),
  ],
  "bodies of each content type": ({ batch }) =>
    batch.messages.map(({ body }: Message) => [Object.prototype.toString.call(body), body]),
  "a body is the same at every access": ({ batch }) => sameTwice(() => batch.messages[0].body),
  "a timestamp is a Date, new at every access": ({ batch }) => {
    const [message] = batch.messages;
    message.timestamp.setTime(0);
    return [message.timestamp instanceof Date, message.timestamp.getTime()];
  },
  "metadata holds a Date and is new at every access": ({ batch }) => [
    batch.metadata.metrics.oldestMessageTimestamp instanceof Date,
    sameTwice(() => batch.metadata),
  ],
  "a body cannot be assigned": ({ batch }) => {
    batch.messages[0].body = "other";
  },
  "an id cannot be assigned": ({ batch }) => {
    batch.messages[0].id = "other";
  },
  "attempts cannot be assigned": ({ batch }) => {
    batch.messages[0].attempts = 9;
  },
  "queue cannot be assigned": ({ batch }) => {
    batch.queue = "other";
  },
  "a message takes other properties": ({ batch }) => {
    batch.messages[0].mine = 1;
    return Object.keys(batch.messages[0]);
  },
  "attempts of each message": ({ batch }) => batch.messages.map(({ attempts }: Message) => attempts),
  "ack without its message": ({ batch }) => {
    const { ack } = batch.messages[0];
    ack();
  },
  "retry without its message": ({ batch }) => {
    const { retry } = batch.messages[0];
    retry();
  },
  "ack of something else": ({ batch }) => batch.messages[0].ack.call({}),
  "ackAll without its batch": ({ batch }) => {
    const { ackAll } = batch;
    ackAll();
  },
  "retryAll without its batch": ({ batch }) => {
    const { retryAll } = batch;
    retryAll();
  },
  "retry with a number": ({ batch }) => batch.messages[0].retry(5),
  "retryAll with a string": ({ batch }) => batch.retryAll("soon"),
  "retry with a delay out of range": ({ batch }) => batch.messages[0].retry({ delaySeconds: 1e12 }),
  "what calls return": ({ batch }) => [
    batch.messages[0].retry(null),
    batch.messages[1].ack(5),
    batch.retryAll(() => 1),
  ],
  "the context's tag, class, properties": ({ ctx }) => [
    Object.prototype.toString.call(ctx),
    ctx.constructor.name,
    Object.keys(ctx),
    ctx.props,
    Object.keys(ctx.exports).includes("default"),
  ],
  passThroughOnException: ({ ctx }) => ctx.passThroughOnException(),
  "waitUntil of no promise": ({ ctx }) => ctx.waitUntil(5),
  "waitUntil of nothing": ({ ctx }) => ctx.waitUntil(),
  "waitUntil without its context": ({ ctx }) => {
    const { waitUntil } = ctx;
    waitUntil(Promise.resolve());
  },
  "the context makes another entrypoint": ({ ctx, env, Other }) => new Other(ctx, env).hasContext(ctx),
  "this of the handler": ({ self }) => [self.mark, typeof self.queue, self.secret?.()],
  "the environment": ({ env }) => env.WAIT_FOR_WAIT_UNTIL,
};
