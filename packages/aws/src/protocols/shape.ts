/**
 * Shapes of an API's requests and answers: AWS's own service models, as far as the protocols need them. Every member of
 * a structure can be absent; each action checks its required members itself, in its own words.
 */
export type Shape =
  | StringShape
  | IntegerShape
  | BooleanShape
  | BlobShape
  | ListShape
  | MapShape
  | StructureShape;

export interface StringShape {
  readonly type: "string";
}
export interface IntegerShape {
  readonly type: "integer";
}
export interface BooleanShape {
  readonly type: "boolean";
}
/** Bytes; base64 on every wire. */
export interface BlobShape {
  readonly type: "blob";
}

/** How a list or map looks in the Query protocol: SQS flattens them (`Tag.1`), SNS does not (`Tags.member.1`). */
export interface QueryName {
  /** Name in form keys and in XML; absent means the member's own. */
  readonly wireName?: string;
  readonly flattened: boolean;
}

export interface ListShape extends QueryName {
  readonly type: "list";
  readonly member: Shape;
}

export interface MapShape extends QueryName {
  readonly type: "map";
  readonly value: Shape;
  readonly keyName: string;
  readonly valueName: string;
}

export interface StructureShape {
  readonly type: "structure";
  readonly members: Readonly<Record<string, Shape>>;
}

/** Type that the values of a shape have in JavaScript. */
export type ValueOf<S extends Shape> = S extends StringShape
  ? string
  : S extends IntegerShape
    ? number
    : S extends BooleanShape
      ? boolean
      : S extends BlobShape
        ? Uint8Array
        : S extends { readonly type: "list"; readonly member: infer Member extends Shape }
          ? readonly ValueOf<Member>[]
          : S extends { readonly type: "map"; readonly value: infer Value extends Shape }
            ? Readonly<Record<string, ValueOf<Value>>>
            : S extends { readonly type: "structure"; readonly members: infer Members }
              ? {
                  readonly [Name in keyof Members]?: Members[Name] extends Shape
                    ? ValueOf<Members[Name]>
                    : never;
                }
              : never;

export const string = { type: "string" } as const satisfies Shape;
export const integer = { type: "integer" } as const satisfies Shape;
export const boolean = { type: "boolean" } as const satisfies Shape;
export const blob = { type: "blob" } as const satisfies Shape;

export function structure<const Members extends Record<string, Shape>>(members: Members) {
  return { type: "structure", members } as const;
}

/** Makes a list whose elements stand one after the other under `wireName`: `Tag.1`, `Tag.2`. */
export function flatList<const Member extends Shape>(wireName: string, member: Member) {
  return { type: "list", flattened: true, wireName, member } as const;
}

/** Makes a list whose elements stand in an element of their own: `Tags.member.1`. */
export function memberList<const Member extends Shape>(member: Member) {
  return { type: "list", flattened: false, member } as const;
}

/** Makes a map whose entries stand in a row under `wireName`: `Attribute.1.Name`, `Attribute.1.Value`. */
export function flatMap<const Value extends Shape>(
  wireName: string,
  value: Value,
  keyName = "Name",
  valueName = "Value",
) {
  return { type: "map", flattened: true, wireName, value, keyName, valueName } as const;
}

/** Makes a map whose entries stand in an element of their own: `Attributes.entry.1.key`. */
export function entryMap<const Value extends Shape>(value: Value, keyName = "key", valueName = "value") {
  return { type: "map", flattened: false, value, keyName, valueName } as const;
}
