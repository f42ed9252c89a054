import { Cron } from "croner";

/**
 * Rule for a schedule with both a day of the month and a day of the week: one of them has to fit, as in Vixie cron, or
 * both, as on AWS.
 */
export type DayRule = "or" | "and";

/** Whole numbers, names and ranges that a field may have, in the order of the fields. */
const FIELDS = [
  { name: "minute", min: 0, max: 59, names: [] },
  { name: "hour", min: 0, max: 23, names: [] },
  { name: "day of the month", min: 1, max: 31, names: [] },
  {
    name: "month",
    min: 1,
    max: 12,
    names: ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"],
  },
  { name: "day of the week", min: 0, max: 7, names: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"] },
] as const;

type Field = (typeof FIELDS)[number];

/** One element of a list: a star, a value or a range, each but a single value with a step. */
const ELEMENT = /^(?:(\*)|([a-z\d]+)(?:-([a-z\d]+))?)(?:\/(\d+))?$/i;

/**
 * A cron expression of five fields in UTC (spec sqsd 8.2). A sixth field is ignored, as on AWS: the first one is the
 * minute all the same.
 */
export class Schedule {
  readonly #cron: Cron;

  /**
   * @throws ScheduleError for anything else than five or six fields of `*`, values, ranges, steps and lists, or one
   *   that never comes.
   */
  constructor(expression: string, days: DayRule = "or") {
    const fields = fieldsOf(expression);
    if (fields.length !== FIELDS.length && !hasSixthField(expression)) {
      throw new ScheduleError(
        `"${expression}" has ${fields.length} fields: minute, hour, day of the month, month and day of the week ` +
          "are needed",
      );
    }
    const read = FIELDS.map((field, i) => readField(fields[i] ?? "", field));
    this.#cron = new Cron(read.join(" "), { utcOffset: 0, mode: "5-part", domAndDow: days === "and" });
    if (this.#cron.nextRun(new Date(0)) === null) throw new ScheduleError(`"${expression}" never comes`);
  }

  /** Returns the first moment after `ms`, in ms since 1970; `null` if there is none any more. */
  after(ms: number): number | null {
    return this.#cron.nextRun(new Date(ms))?.getTime() ?? null;
  }

  /** Returns the last moment not after `ms`, in ms since 1970; `null` if there was none. */
  until(ms: number): number | null {
    return this.#cron.previousRuns(1, new Date(ms + 1))[0]?.getTime() ?? null;
  }
}

/** A schedule that cannot be read. The message says what is wrong with it. */
export class ScheduleError extends Error {
  override readonly name = "ScheduleError";
}

/** Whether a cron expression has a field more than it needs, which does not count. */
export function hasSixthField(expression: string): boolean {
  return fieldsOf(expression).length === FIELDS.length + 1;
}

function fieldsOf(expression: string): string[] {
  return expression.split(/\s+/).filter((field) => field !== "");
}

/**
 * Checks a field, and writes it as croner takes it. A step beyond the field fits the first value alone, which is
 * written in its place: croner refuses such a step.
 */
function readField(text: string, field: Field): string {
  const elements = text.split(",").map((element) => {
    const [, star, first, last, step] = ELEMENT.exec(element) ?? [];
    const isRange = star !== undefined || last !== undefined;
    const from = first === undefined ? null : numberIn(first, field);
    const to = last === undefined ? null : numberIn(last, field);
    const isValid =
      (star !== undefined || first !== undefined) &&
      from !== undefined &&
      to !== undefined &&
      (from === null || to === null || from <= to) &&
      (step === undefined || (isRange && Number(step) >= 1));
    if (!isValid) throw new ScheduleError(`"${text}" is no ${field.name}: ${expected(field)}`);
    return Number(step) > field.max ? (first ?? field.min) : element;
  });
  return elements.join(",");
}

/** Reads a number or a name of the field; `undefined` for any other text. */
function numberIn(text: string, { min, max, names }: Field): number | undefined {
  if (/^\d+$/.test(text)) {
    const value = Number(text);
    return value >= min && value <= max ? value : undefined;
  }
  const at = (names as readonly string[]).indexOf(text.toLowerCase());
  return at === -1 ? undefined : at + (min === 1 ? 1 : 0);
}

function expected({ min, max, names }: Field): string {
  const named = names.length === 0 ? "" : ` or ${names[0]} to ${names.at(-1)}`;
  return `*, ${min} to ${max}${named}, ranges (a-b), steps of * and of ranges (/n) and lists (,) are`;
}
