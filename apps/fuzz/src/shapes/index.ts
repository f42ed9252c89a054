import { fuzz } from "../fuzz.ts";
import { bodies } from "./bodies.ts";
import { filters } from "./filters.ts";
import { imports } from "./imports.ts";
import { nesting } from "./nesting.ts";
import type { Shape } from "./shape.ts";

const sqs: Shape = {
  cases: 2_000,
  async run(open, options) {
    const target = await open();
    try {
      const { statuses } = await fuzz(target, options);
      return { statuses, slowestMs: null };
    } finally {
      await target.close();
    }
  },
};

/** Shapes by the names of `--shape`. */
export const SHAPES: ReadonlyMap<string, Shape> = new Map(
  Object.entries({ sqs, bodies, filters, imports, nesting }),
);
