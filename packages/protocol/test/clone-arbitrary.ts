import * as fc from "fast-check";

/** Random values that structured clone takes, with shared references and cycles. Runs in Node and in workerd. */
export function cloneable(): fc.Arbitrary<unknown> {
  return fc.array(nodeSpec, { minLength: 1, maxLength: 8 }).map(buildGraph);
}

type Link = { readonly node: number } | { readonly leaf: unknown };
interface NodeSpec {
  readonly kind: keyof typeof SHELLS;
  readonly links: readonly (readonly [key: string, link: Link])[];
}

const leaf = fc.oneof(
  fc.anything({
    withBigInt: true,
    withBoxedValues: true,
    withDate: true,
    withMap: true,
    withSet: true,
    withTypedArray: true,
    withSparseArray: true,
    withNullPrototype: true,
    maxDepth: 2,
  }),
  fc.double(),
  fc.string({ unit: "binary" }),
  fc.constantFrom<unknown>(
    -0,
    Object(-0),
    Object(""),
    Object(5n),
    Number.NaN,
    undefined,
    "\ud800 a lone surrogate",
    "\ufeff a byte order mark",
    new Date(Number.NaN),
    /a\/b/giu,
    Object.assign([1], { 2: 3, named: true }),
    JSON.parse('{"__proto__": {"a": 1}, "b": 2}'),
    new DOMException("gone", "AbortError"),
    new DataView(new ArrayBuffer(8), 2, 4),
  ),
);

const link: fc.Arbitrary<Link> = fc.oneof(
  fc.nat(7).map((node) => ({ node })),
  leaf.map((value) => ({ leaf: value })),
);

class Custom {
  readonly own = 1;
  get computed() {
    return 2;
  }
}

class CustomError extends RangeError {
  override readonly name = "CustomError";
  readonly code = 42;
}

const SHELLS = {
  object: () => ({}),
  custom: () => new Custom(),
  array: () => [],
  sparse: () => new Array(5_000),
  map: () => new Map(),
  set: () => new Set(),
  error: () => new Error("an error"),
  typeError: () => new TypeError(""),
  customError: () => new CustomError("custom"),
  aggregate: () => new AggregateError([1, "two"], "several"),
  shared: () => new Uint8Array(new Uint8Array([1, 2, 3, 4]).buffer, 1, 2),
} satisfies Record<string, () => object>;

const nodeSpec: fc.Arbitrary<NodeSpec> = fc.record({
  kind: fc.constantFrom(...(Object.keys(SHELLS) as NodeSpec["kind"][])),
  links: fc.array(
    fc.tuple(
      fc.oneof(
        fc.constantFrom("0", "7", "00", "4294967295", "cause", "__proto__", "name", "length"),
        fc.string(),
      ),
      link,
    ),
    { maxLength: 4 },
  ),
});

function buildGraph(specs: readonly NodeSpec[]): unknown {
  const nodes = specs.map((spec) => SHELLS[spec.kind]());
  specs.forEach((spec, i) => {
    const node = nodes[i];
    for (const [key, to] of spec.links) {
      const value = "leaf" in to ? to.leaf : nodes[to.node % nodes.length];
      if (node instanceof Map) node.set(value, key).set(key, value);
      else if (node instanceof Set) node.add(value);
      else if (Array.isArray(node) && spec.kind === "array") node.push(value);
      // The runtime reads an error's name and message as strings while it clones.
      else if (node instanceof Error && key === "name") continue;
      // Random names include this one, and an array's is no property to define: most values are no length.
      else if (Array.isArray(node) && key === "length") continue;
      else if (!ArrayBuffer.isView(node)) {
        Object.defineProperty(node, key, { value, enumerable: true, writable: true, configurable: true });
      }
    }
  });
  return nodes[0];
}

/** Everything that tells two values apart, as text: identities, prototypes, keys in order, holes, -0. */
export function describe(value: unknown): string {
  const ids = new Map<object, number>();
  const nodes: unknown[] = [];
  const refer = (thing: unknown): unknown => {
    if (typeof thing !== "object" || thing === null) {
      return [typeof thing, Object.is(thing, -0) ? "-0" : String(thing)];
    }
    const known = ids.get(thing);
    if (known !== undefined) return known;
    const id = ids.size;
    ids.set(thing, id);
    nodes[id] = [
      Object.prototype.toString.call(thing),
      Object.getPrototypeOf(thing)?.constructor?.name,
      inside(thing).map(refer),
      ownProperties(thing).map(([key, enumerable, property]) => [key, enumerable, refer(property)]),
    ];
    return id;
  };
  refer(value);
  return JSON.stringify([refer(value), nodes]);
}

/** Lists the contents of a value besides its properties. */
function inside(thing: object): unknown[] {
  if (thing instanceof Map) return [...thing].flat();
  if (thing instanceof Set) return [...thing];
  if (thing instanceof Date) return [thing.getTime()];
  if (thing instanceof RegExp) return [thing.source, thing.flags];
  if (thing instanceof ArrayBuffer) return [...new Uint8Array(thing)];
  if (ArrayBuffer.isView(thing)) return [thing.buffer, thing.byteOffset, thing.byteLength];
  if (
    thing instanceof Number ||
    thing instanceof String ||
    thing instanceof Boolean ||
    thing instanceof BigInt
  ) {
    return [thing.valueOf()];
  }
  if (thing instanceof DOMException) return [thing.name, thing.message];
  if (typeof Headers === "function" && thing instanceof Headers) return [...thing].flat();
  return [];
}

function ownProperties(thing: object): [key: string, enumerable: boolean, value: unknown][] {
  const indexed = ArrayBuffer.isView(thing) || thing instanceof String;
  return Object.getOwnPropertyNames(thing)
    .filter((key) => !(indexed && /^\d+$/.test(key)))
    .map((key) => [key, Object.prototype.propertyIsEnumerable.call(thing, key), Reflect.get(thing, key)]);
}
