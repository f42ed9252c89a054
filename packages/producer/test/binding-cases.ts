/**
 * Uses of the Queue binding, right and wrong. The same are run against workerd's own binding and against ours; each
 * makes its own input, since some are used up. Runs in workerd.
 */
// biome-ignore lint/suspicious/noExplicitAny: the cases call the binding in ways that its types forbid.
type AnyQueue = any;
export type BindingCase = (queue: AnyQueue) => unknown;

const CONTENT_TYPES = ["text", "bytes", "json", "v8"];

const BODIES: Record<string, () => unknown> = {
  null: () => null,
  zero: () => 0,
  "empty string": () => "",
  string: () => "x",
  "boxed string": () => Object("x"),
  "lone surrogate": () => "\ud800x",
  "byte order mark": () => "\ufeffb",
  true: () => true,
  NaN: () => Number.NaN,
  BigInt: () => 5n,
  object: () => ({ a: 1, b: [undefined, null] }),
  date: () => new Date(0),
  "class instance": () =>
    new (class Order {
      id = 1;
    })(),
  cycle: () => {
    const cycle: { self?: unknown } = {};
    cycle.self = cycle;
    return cycle;
  },
  "throwing toJSON": () => ({
    toJSON() {
      throw new RangeError("from toJSON");
    },
  }),
  ArrayBuffer: () => new ArrayBuffer(2),
  Uint8Array: () => new Uint8Array([1, 2, 3]),
  subarray: () => new Uint8Array([1, 2, 3, 4]).subarray(1, 3),
  Uint16Array: () => new Uint16Array([258]),
  DataView: () => new DataView(new Uint8Array([1, 2, 3, 4]).buffer, 1, 2),
  "empty view": () => new Uint8Array(),
  URL: () => new URL("http://a/b"),
  WeakMap: () => new WeakMap(),
  promise: () => Promise.resolve(1),
  generator: () => (function* () {})(),
  proxy: () => new Proxy({}, {}),
  FormData: () => new FormData(),
};

/** Bodies that JSON cannot express: there ours differs on purpose, so they are tried with the other types only. */
const INEXPRESSIBLE: Record<string, () => unknown> = {
  "arrow function": () => () => 1,
  symbol: () => Symbol("s"),
};

const OPTIONS: Record<string, () => unknown> = {
  undefined: () => undefined,
  null: () => null,
  number: () => 5,
  string: () => "x",
  boolean: () => true,
  BigInt: () => 10n,
  symbol: () => Symbol("s"),
  function: () => () => 1,
  array: () => [],
  "inherited delay": () => Object.create({ delaySeconds: 11 }),
  "throwing getter": () => ({
    get contentType() {
      throw new RangeError("from a getter");
    },
  }),
};

const TYPE_NAMES: Record<string, () => unknown> = {
  null: () => null,
  number: () => 5,
  symbol: () => Symbol("z"),
  empty: () => "",
  unknown: () => "FOO",
  "mixed case": () => "TeXt",
  "upper case": () => "JSON",
  "an object with toString": () => ({ toString: () => "json" }),
};

/** Only delays that the broker takes, or that the binding refuses itself. */
export const DELAYS: Record<string, () => unknown> = {
  undefined: () => undefined,
  0: () => 0,
  "-0.5": () => -0.5,
  null: () => null,
  NaN: () => Number.NaN,
  Infinity: () => Number.POSITIVE_INFINITY,
  "-Infinity": () => Number.NEGATIVE_INFINITY,
  abc: () => "abc",
  '"5"': () => "5",
  '""': () => "",
  '"0x10"': () => "0x10",
  '" 7 "': () => " 7 ",
  "{}": () => ({}),
  "[4]": () => [4],
  "a date": () => new Date(5),
  true: () => true,
  1.9: () => 1.9,
  86400: () => 86_400,
  "2^31": () => 2 ** 31,
  "-2^31-1": () => -(2 ** 31) - 1,
  BigInt: () => 3n,
  symbol: () => Symbol("q"),
  valueOf: () => ({ valueOf: () => 9 }),
  "throwing valueOf": () => ({
    valueOf() {
      throw new Error("from valueOf");
    },
  }),
};

const BATCHES: Record<string, () => unknown> = {
  undefined: () => undefined,
  null: () => null,
  number: () => 5,
  string: () => "abc",
  object: () => ({}),
  "array-like": () => ({ length: 1, 0: { body: 1 } }),
  "async generator": () =>
    (async function* () {
      yield { body: 1 };
    })(),
  "iterator that is no function": () => ({ [Symbol.iterator]: 5 }),
  "iterator that is no object": () => ({ [Symbol.iterator]: () => 5 }),
  empty: () => [],
  "of strings": () => ["a"],
  "of numbers": () => [1],
  "of null": () => [null],
  sparse: () => {
    const sparse = [];
    sparse[1] = { body: 1 };
    return sparse;
  },
  "of {}": () => [{}],
  "of functions": () => [() => 1],
  "of functions with a body": () => [Object.assign(() => 1, { body: 3 })],
  "of arrays": () => [[1]],
  "typed array": () => new Uint8Array([1]),
  set: () => new Set([{ body: 1 }]),
  map: () => new Map([[1, { body: 2 }]]),
  generator: () =>
    (function* () {
      yield { body: 1 };
      yield { body: 2, delaySeconds: 4 };
    })(),
  "generator that throws": () =>
    (function* () {
      yield { body: 1 };
      throw new RangeError("from the generator");
    })(),
  "of each type": () => [
    { body: "t", contentType: "text" },
    { body: new Uint8Array([1, 2]), contentType: "bytes" },
    { body: { a: [1] }, contentType: "json" },
  ],
  "first bad item decides, type": () => [{ body: 1, contentType: "x" }, { body: undefined }],
  "first bad item decides, body": () => [{ body: undefined }, { body: 1, contentType: "x" }],
  "reading beats checking": () => [{ body: undefined }, { body: 1, delaySeconds: 1e12 }],
};

const detached = (view: ArrayBufferView) => (view.buffer as ArrayBuffer).detached;
const wasmView = () => new Uint8Array(new WebAssembly.Memory({ initial: 1 }).buffer, 0, 3);

/** Cases that look at more than the outcome; what they return is compared too. */
const OBSERVATIONS: Record<string, BindingCase> = {
  "send()": (queue) => queue.send(),
  "send(undefined)": (queue) => queue.send(undefined),
  "send, bad type and undefined body": (queue) => queue.send(undefined, { contentType: "zzz" }),
  "send, bad delay and undefined body": (queue) => queue.send(undefined, { delaySeconds: 1e12 }),
  "send without its object": ({ send }) => send(1),
  "sendBatch without its object": ({ sendBatch }) => sendBatch([{ body: 1 }]),
  "metrics without its object": ({ metrics }) => metrics(),
  metrics: (queue) => queue.metrics(),
  "sendBatch()": (queue) => queue.sendBatch(),
  "its own keys": (queue) => Object.keys(queue),
  "its prototype": (queue) => Object.getOwnPropertyNames(Object.getPrototypeOf(queue)).sort(),
  "send reads its options in order": async (queue) => {
    const read: string[] = [];
    await queue.send(1, {
      get delaySeconds() {
        return read.push("delaySeconds");
      },
      get contentType() {
        read.push("contentType");
        return "json";
      },
    });
    return read;
  },
  "sendBatch reads everything in order": async (queue) => {
    const read: string[] = [];
    const item = (n: number) => ({
      get delaySeconds() {
        read.push(`delay ${n}`);
        return n;
      },
      get contentType() {
        read.push(`type ${n}`);
        return "json";
      },
      get body() {
        read.push(`body ${n}`);
        return { toJSON: () => read.push(`toJSON ${n}`) };
      },
    });
    const items = function* () {
      yield item(0);
      read.push("next");
      yield item(1);
      read.push("end");
    };
    const options = {
      get delaySeconds() {
        return read.push("options");
      },
    };
    await queue.sendBatch(items(), options);
    return read;
  },
  "sendBatch tells the iterator to return after a bad item": async (queue) => {
    const read: unknown[] = [];
    const items = function* () {
      try {
        yield { body: 1 };
        yield 5;
        read.push("asked for more");
      } finally {
        read.push("returned");
      }
    };
    await queue.sendBatch(items()).catch((error: Error) => read.push(error.message));
    return read;
  },
  "bad options of sendBatch beat an empty batch": (queue) => queue.sendBatch([], { delaySeconds: 1e12 }),
  "a bad item beats bad options of sendBatch": (queue) => queue.sendBatch([5], { delaySeconds: 1e12 }),
  "send detaches bytes before it returns": async (queue) => {
    const view = new Uint8Array([1, 2]);
    const sent = queue.send(view, { contentType: "bytes" });
    const atOnce = detached(view);
    await sent;
    return atOnce;
  },
  "send detaches the whole buffer behind a view": async (queue) => {
    const view = new DataView(new ArrayBuffer(8), 2, 2);
    await queue.send(view, { contentType: "bytes" });
    return detached(view);
  },
  "send detaches a resizable buffer": async (queue) => {
    const view = new Uint8Array(new ArrayBuffer(3, { maxByteLength: 10 }));
    await queue.send(view, { contentType: "bytes" });
    return detached(view);
  },
  "send leaves shared memory": async (queue) => {
    const view = new Uint8Array(new SharedArrayBuffer(3));
    await queue.send(view, { contentType: "bytes" });
    return view.byteLength;
  },
  "send leaves the memory of WebAssembly": async (queue) => {
    const view = wasmView();
    await queue.send(view, { contentType: "bytes" });
    return view.byteLength;
  },
  "send takes a detached view as empty": async (queue) => {
    const view = new Uint8Array(3);
    structuredClone(view, { transfer: [view.buffer] });
    await queue.send(view, { contentType: "bytes" });
  },
  "send leaves bytes that another type takes": async (queue) => {
    const view = new Uint8Array(3);
    await queue.send(view, { contentType: "json" });
    return detached(view);
  },
  "send leaves bytes when its options are bad": async (queue) => {
    const view = new Uint8Array(3);
    await queue.send(view, { contentType: "bytes", delaySeconds: 1e12 }).catch(() => {});
    return detached(view);
  },
  // Workers in Rust tell the kinds of bindings apart by it.
  "the name of its class": (queue) => queue.constructor.name,
  "its properties": (queue) => [Object.keys(queue), Object.getOwnPropertyNames(queue)],
  "its prototypes": (queue) => prototypesOf(queue),
  "a copy of it": (queue) => refusalOfCopy(() => structuredClone(queue)),
  "a copy of what has it": (queue) => refusalOfCopy(() => structuredClone({ list: [queue] })),
  "send of itself as v8": (queue) => refusalOfCopy(() => queue.send(queue, { contentType: "v8" })),
  "sendBatch leaves bytes": async (queue) => {
    const view = new Uint8Array(3);
    await queue.sendBatch([{ body: view, contentType: "bytes" }]);
    return detached(view);
  },
};

/** How many prototypes it has, and whether any makes it something else as well. */
function prototypesOf(value: object): unknown {
  let count = 0;
  for (let at = Object.getPrototypeOf(value); at !== null; at = Object.getPrototypeOf(at)) count += 1;
  return [count, value instanceof EventTarget, Object.getOwnPropertySymbols(value).length];
}

/** Describes the error that refuses a copy; `copied` where none does. */
async function refusalOfCopy(copy: () => unknown): Promise<unknown> {
  try {
    await copy();
    return "copied";
  } catch (error) {
    const { name, code, message } = error as DOMException;
    return { isException: error instanceof DOMException, name, code, message };
  }
}

/** All cases by name. */
export const CASES: Record<string, BindingCase> = { ...OBSERVATIONS, ...generatedCases() };

function generatedCases(): Record<string, BindingCase> {
  const cases: Record<string, BindingCase> = {};
  for (const [name, body] of Object.entries(BODIES)) {
    cases[`send(${name})`] = (queue) => queue.send(body());
    for (const contentType of CONTENT_TYPES) {
      cases[`send(${name}) as ${contentType}`] = (queue) => queue.send(body(), { contentType });
      cases[`sendBatch(${name}) as ${contentType}`] = (queue) =>
        queue.sendBatch([{ body: "first" }, { body: body(), contentType }]);
    }
  }
  for (const [name, body] of Object.entries(INEXPRESSIBLE)) {
    for (const contentType of ["text", "bytes", "v8"]) {
      cases[`send(${name}) as ${contentType}`] = (queue) => queue.send(body(), { contentType });
    }
  }
  for (const [name, options] of Object.entries(OPTIONS)) {
    cases[`send with options ${name}`] = (queue) => queue.send("a", options());
    cases[`sendBatch with options ${name}`] = (queue) => queue.sendBatch([{ body: "a" }], options());
  }
  for (const [name, contentType] of Object.entries(TYPE_NAMES)) {
    cases[`send as ${name}`] = (queue) => queue.send("a", { contentType: contentType() });
    cases[`sendBatch as ${name}`] = (queue) => queue.sendBatch([{ body: "a", contentType: contentType() }]);
  }
  for (const [name, delaySeconds] of Object.entries(DELAYS)) {
    cases[`send delayed by ${name}`] = (queue) => queue.send("a", { delaySeconds: delaySeconds() });
    cases[`sendBatch delayed by ${name}`] = (queue) =>
      queue.sendBatch([{ body: "a" }, { body: "b", delaySeconds: 2 }], { delaySeconds: delaySeconds() });
    cases[`message of a batch delayed by ${name}`] = (queue) =>
      queue.sendBatch([{ body: "a" }, { body: "b", delaySeconds: delaySeconds() }]);
  }
  for (const [name, messages] of Object.entries(BATCHES)) {
    cases[`sendBatch of ${name}`] = (queue) => queue.sendBatch(messages());
  }
  return cases;
}
