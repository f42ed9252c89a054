import type { Browser, Page } from "playwright-core";
import { expect, onTestFinished } from "vitest";

/** Time limit for the page on a busy machine, in ms. */
export const PATIENCE_MS = 100_000;

/** Window and permissions of a page. */
export interface View {
  /** Size in CSS pixels. Default: 1,280 wide and 720 high. */
  readonly viewport?: { readonly width: number; readonly height: number };
  /** Default: light. */
  readonly colorScheme?: "light" | "dark";
  /** Permissions that the page has without a question, by the browser's names. Default: none. */
  readonly permissions?: readonly string[];
}

/** A page of the browser, which tests use one after the other. */
interface Tab {
  readonly page: Page;
  /** Errors of the test that runs. */
  readonly errors: string[];
}

/**
 * Opens pages. A test reuses the page of an earlier test, after a reset: a new page costs the browser a window and a
 * process, which is several times the work of loading the page.
 */
export function openPages(browser: Browser): { open(url: string, view: View): Promise<Page> } {
  const free: Tab[] = [];
  return {
    open: async (url, view) => {
      const tab = free.pop() ?? (await newTab(browser));
      onTestFinished(async () => {
        await leave(tab.page);
        const errors = tab.errors.splice(0);
        free.push(tab);
        expect(errors).toEqual([]);
      });
      await show(tab.page, view);
      await tab.page.goto(url);
      return tab.page;
    },
  };
}

async function newTab(browser: Browser): Promise<Tab> {
  // Proxies in tests have self-signed certificates.
  const context = await browser.newContext({ ignoreHTTPSErrors: true });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("console", (message) => {
    // The browser logs refusals of the API itself.
    const isRefusal = message.text().startsWith("Failed to load resource");
    if (message.type() === "error" && !isRefusal) errors.push(message.text());
  });
  // A string, because functions of these sources do not exist in the page.
  await page.addInitScript(
    `addEventListener("securitypolicyviolation", ({ blockedURI, violatedDirective }) =>
      console.error("policy:", blockedURI, violatedDirective));`,
  );
  return { page, errors };
}

async function show(page: Page, view: View): Promise<void> {
  const { viewport = { width: 1_280, height: 720 }, colorScheme = "light", permissions = [] } = view;
  await page.setViewportSize(viewport);
  await page.emulateMedia({ colorScheme });
  await page.context().grantPermissions([...permissions]);
}

/** Resets a page at the end of a test, and leaves its URL. */
async function leave(page: Page): Promise<void> {
  await page.unrouteAll({ behavior: "ignoreErrors" });
  await page.evaluate("localStorage.clear(); sessionStorage.clear()");
  await page.context().clearPermissions();
  await page.goto("about:blank");
  await page.mouse.move(0, 0);
}
