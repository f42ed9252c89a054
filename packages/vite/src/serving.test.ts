import { expect, it } from "vitest";
import { isServing } from "./serving.ts";

it.each([
  // Vite has set NODE_ENV by the command.
  ["vite", "development", true],
  ["vite --port 3000", "development", true],
  ["vite dev", "development", true],
  ["react-router dev", "development", true],
  ["vite build", "production", false],
  ["vite preview", "production", false],
  // A program that calls Vite.
  ["server.js", "development", true],
  ["build.js", "production", false],
  // NODE_ENV was set before.
  ["vite build", "development", false],
  ["astro build", "development", false],
  ["vite dev", "production", true],
  ["vite dev", "staging", true],
  // Vitest reads the same file.
  ["vitest dev", "test", false],
  ["vitest", "test", false],
  ["program", undefined, false],
])("the command %s with NODE_ENV %s serves: %s", (command, nodeEnv, expected) => {
  expect(isServing(["node", ...command.split(" ")], nodeEnv)).toBe(expected);
});
