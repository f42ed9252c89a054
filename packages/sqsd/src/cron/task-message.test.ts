import { expect, it } from "vitest";
import { taskAttributes, taskOf } from "./task-message.ts";

const TASK = { name: "nightly", url: "/nightly", scheduledMs: Date.UTC(2017, 2, 22, 23, 10) };

it("a task's message says what AWS's says (spec sqsd 8.3)", () => {
  expect(taskAttributes(TASK)).toEqual({
    "beanstalk.sqsd.path": { DataType: "String", StringValue: "/nightly" },
    "beanstalk.sqsd.task_name": { DataType: "String", StringValue: "nightly" },
    "beanstalk.sqsd.scheduled_time": { DataType: "String", StringValue: "2017-03-22 23:10:00 UTC" },
  });
});

it("is read back, unless something of it is missing", () => {
  const attributes = taskAttributes(TASK);
  expect(taskOf(attributes)).toEqual(TASK);
  for (const name of Object.keys(attributes)) {
    const { [name]: _, ...rest } = attributes;
    expect(taskOf(rest)).toBeNull();
  }
  const bad = { "beanstalk.sqsd.scheduled_time": { DataType: "String", StringValue: "soon" } };
  expect(taskOf({ ...attributes, ...bad })).toBeNull();
});
