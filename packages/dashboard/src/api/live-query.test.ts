import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { TokenNeeded, WRONG_TOKEN } from "./call.ts";
import { type Live, LiveQuery } from "./live-query.ts";

const PERIOD_MS = 1_000;

let page: { hidden: boolean };
let shown: Live<string>[];
let questions: PromiseWithResolvers<string>[];

beforeEach(() => {
  vi.useFakeTimers();
  page = { hidden: false };
  vi.stubGlobal("document", page);
  shown = [];
  questions = [];
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

/** A query that has asked its first question. */
function asking(): LiveQuery<string> {
  const ask = () => {
    const question = Promise.withResolvers<string>();
    questions.push(question);
    return question.promise;
  };
  const query = new LiveQuery(ask, (live) => shown.push(live), PERIOD_MS);
  query.refresh();
  return query;
}

async function answer(number: number, text: string): Promise<void> {
  questions[number]?.resolve(text);
  await vi.advanceTimersByTimeAsync(0);
}

const live = (text: string): Live<string> => ({ kind: "live", answer: text });

it("shows each answer of a broker that takes longer for one than notices take to come", async () => {
  const query = asking();
  for (let i = 0; i < 3; i++) {
    for (let notice = 0; notice < 5; notice++) {
      query.renew();
      await vi.advanceTimersByTimeAsync(PERIOD_MS);
    }
    await answer(i, `answer ${i}`);
    expect(shown.at(-1)).toEqual(live(`answer ${i}`));
    await vi.advanceTimersByTimeAsync(PERIOD_MS);
    expect(questions).toHaveLength(i + 2);
  }
});

it("asks once a period, however many notices come, and not without one", async () => {
  const query = asking();
  await answer(0, "first");
  for (let i = 0; i < 5; i++) query.renew();
  await vi.advanceTimersByTimeAsync(PERIOD_MS - 1);
  expect(questions).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(questions).toHaveLength(2);
  await answer(1, "second");
  await vi.advanceTimersByTimeAsync(60 * PERIOD_MS);
  expect(questions).toHaveLength(2);
});

it("shows no answer to a question from before an action", async () => {
  const query = asking();
  query.refresh();
  await answer(0, "before the action");
  expect(shown).toEqual([]);
  await answer(1, "after it");
  expect(shown).toEqual([live("after it")]);
});

it("asks again where a question is never answered", async () => {
  const query = asking();
  query.renew();
  await vi.advanceTimersByTimeAsync(30_000);
  expect(questions).toHaveLength(2);
  await answer(1, "at last");
  expect(shown).toEqual([live("at last")]);
});

it("shows the answer before a failed question, and asks again by itself", async () => {
  const query = asking();
  await answer(0, "first");
  query.refresh();
  questions[1]?.reject(new Error("no connection"));
  await vi.advanceTimersByTimeAsync(0);
  expect(shown.at(-1)).toEqual({ kind: "lost", reason: "no connection", answer: "first" });
  await vi.advanceTimersByTimeAsync(2_000);
  await answer(2, "second");
  expect(shown.at(-1)).toEqual(live("second"));
});

it("goes on to say that a token was wrong when it asks again without one", async () => {
  asking();
  questions[0]?.reject(new TokenNeeded(WRONG_TOKEN));
  await vi.advanceTimersByTimeAsync(2_000);
  questions[1]?.reject(new TokenNeeded(""));
  await vi.advanceTimersByTimeAsync(0);
  const wrong = { kind: "tokenNeeded", reason: WRONG_TOKEN };
  expect(shown).toEqual([wrong, wrong]);
});

it("asks nothing for a page that cannot be seen, and shows nothing after its end", async () => {
  const query = asking();
  await answer(0, "first");
  page.hidden = true;
  query.renew();
  await vi.advanceTimersByTimeAsync(10 * PERIOD_MS);
  expect(questions).toHaveLength(1);
  page.hidden = false;
  query.renew();
  await vi.advanceTimersByTimeAsync(0);
  expect(questions).toHaveLength(2);
  query.end();
  await answer(1, "too late");
  expect(shown).toEqual([live("first")]);
});
