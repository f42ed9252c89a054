import type { Scalar } from "./policy.ts";
import { Value } from "./value.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

/** The content of a member, out of arrays of any depth. */
export interface Content {
  readonly values: readonly Value[];
  readonly objects: readonly JsonObject[];
}

/**
 * An object of a message as a filter policy sees it. A member `a.x` beside a member `a` counts as member x of `a`, and
 * of each object in `a` if that is an array.
 *
 * Members are never copied from one object to another: a message can have a hundred thousand objects in an array, and
 * as many members beside it. Each member is looked through once, however many choices of a policy ask for it.
 */
export class MessageObject {
  /** The object itself, and members with dots beside it or beside the objects around it. */
  readonly #layers: readonly Layer[];
  /** Contents of members that are arrays or objects, by name: those take time to look through. */
  #contents: Map<string, Content> | undefined;
  #below: Map<string, readonly MessageObject[]> | undefined;

  private constructor(layers: readonly Layer[]) {
    this.#layers = layers;
  }

  static of(object: JsonObject): MessageObject {
    return new MessageObject([new Layer(object)]);
  }

  content(name: string): Content {
    const members = this.#members(name);
    const [first, ...others] = members;
    if (first === undefined) return NO_CONTENT;
    if (others.length === 0 && (typeof first !== "object" || first === null)) {
      return { values: [new Value(first as Scalar)], objects: [] };
    }
    const known = this.#contents?.get(name);
    if (known !== undefined) return known;
    const content = contentOf(members);
    this.#contents ??= new Map();
    this.#contents.set(name, content);
    return content;
  }

  /** Lists the objects in a member. A value that is no object stands for one without members. */
  below(name: string): readonly MessageObject[] {
    const known = this.#below?.get(name);
    if (known !== undefined) return known;
    const { objects } = this.content(name);
    const beside = this.#layers.flatMap((layer) => layer.below(name) ?? []);
    if (objects.length === 0 && beside.length === 0) return NO_OBJECT;
    const below = (objects.length === 0 ? [{}] : objects).map(
      (object) => new MessageObject([new Layer(object), ...beside]),
    );
    this.#below ??= new Map();
    this.#below.set(name, below);
    return below;
  }

  /** Lists the values of a member: one of each layer that has it. */
  #members(name: string): readonly unknown[] {
    let members: unknown[] | undefined;
    for (const { object } of this.#layers) {
      if (!Object.hasOwn(object, name)) continue;
      members ??= [];
      members.push(object[name]);
    }
    return members ?? NOTHING;
  }
}

/** The members of a JSON object. Those with a dot in their names are found by the part before it. */
class Layer {
  readonly object: JsonObject;
  #dotted: Map<string, [name: string, value: unknown][]> | undefined;
  #below: Map<string, Layer> | undefined;

  constructor(object: JsonObject) {
    this.object = object;
  }

  /** Finds the members `a.x` and `a.y` for the name a, as members x and y; `null` where there is no such member. */
  below(name: string): Layer | null {
    this.#dotted ??= dottedMembers(this.object);
    const members = this.#dotted.get(name);
    if (members === undefined) return null;
    this.#below ??= new Map();
    const known = this.#below.get(name);
    if (known !== undefined) return known;
    const below = new Layer(Object.fromEntries(members));
    this.#below.set(name, below);
    return below;
  }
}

const NOTHING: readonly unknown[] = [];
const NO_CONTENT: Content = { values: [], objects: [] };
/** Stands for a member that holds no object: one without members. */
const NO_OBJECT: readonly MessageObject[] = [MessageObject.of({})];

function dottedMembers(object: JsonObject): Map<string, [name: string, value: unknown][]> {
  const dotted = new Map<string, [name: string, value: unknown][]>();
  for (const [key, value] of Object.entries(object)) {
    const dot = key.indexOf(".");
    if (dot === -1) continue;
    const first = key.slice(0, dot);
    const members = dotted.get(first) ?? [];
    members.push([key.slice(dot + 1), value]);
    dotted.set(first, members);
  }
  return dotted;
}

/** Collects the content of arrays without recursion: they can be as deep as a message is long. */
function contentOf(members: readonly unknown[]): Content {
  const values: Value[] = [];
  const objects: JsonObject[] = [];
  const rest = [...members];
  while (rest.length > 0) {
    const value = rest.pop();
    if (Array.isArray(value)) for (const element of value) rest.push(element);
    else if (typeof value === "object" && value !== null) objects.push(value as JsonObject);
    else values.push(new Value(value as Scalar)); // JSON has nothing else.
  }
  return { values, objects };
}
