import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
/** Rules of WCAG 2.2, levels A and AA. */
const ALL = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
/** Rules about colours, the only ones that another colour scheme may break. */
const OF_COLOURS = ["color-contrast", "link-in-text-block"];
const runAxe = (
  rules: readonly string[],
) => `axe.run({ runOnly: ${JSON.stringify(rules)}, resultTypes: ["violations"] })
  .then(({ violations }) => violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html).join(" ")))`;
/** Script that lists elements beyond the right edge of the screen that have no scroll bar of their own. */
const OVERHANGING = `[...document.querySelectorAll("body *")]
  .filter((element) => element.getBoundingClientRect().right > innerWidth + 1)
  .filter((element) => !element.closest(".map, .body, .stack-trace, .tabs, .hidden, thead"))
  .map((element) => element.outerHTML.slice(0, 80))
  .concat(document.documentElement.scrollWidth > innerWidth ? ["the page scrolls sideways"] : [])`;

/** Loads axe into a page, which `problems` needs. */
export async function loadAxe(page: Page): Promise<void> {
  await page.evaluate(AXE);
}

/** Lists violations of WCAG on a page, and elements that overhang the screen. */
export async function problems(page: Page): Promise<unknown> {
  return [await page.evaluate(runAxe(ALL)), await page.evaluate(OVERHANGING)].flat();
}

/** Lists violations of the rules about colours in the dark scheme. Other problems are the same in both schemes. */
export async function problemsInTheDark(page: Page): Promise<unknown> {
  await page.emulateMedia({ colorScheme: "dark" });
  const found = await page.evaluate(runAxe(OF_COLOURS));
  await page.emulateMedia({ colorScheme: "light" });
  return found;
}
