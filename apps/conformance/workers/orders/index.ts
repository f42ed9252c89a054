interface Env {
  /** The queue of each program, by its binding. */
  readonly [binding: string]: Queue<string>;
}

/** One call of a program such as `m1.retry(5); throw`. */
const CALL = /^(?<on>m1\.)?(?<name>\w+)(?:\((?<seconds>\d+)\))?$/;

function run(program: string, batch: MessageBatch<string>): void {
  for (const call of program === "" ? [] : program.split("; ")) {
    const { on, name, seconds } = CALL.exec(call)?.groups ?? {};
    const options = seconds === undefined ? undefined : { delaySeconds: Number(seconds) };
    if (name === "throw") throw new Error("thrown by a program");
    else if (on !== undefined && name === "ack") batch.messages[0]?.ack();
    else if (on !== undefined && name === "retry") batch.messages[0]?.retry(options);
    else if (name === "ackAll") batch.ackAll();
    else if (name === "retryAll") batch.retryAll(options);
    else throw new Error(`"${call}" is no call`);
  }
}

/** An ordinary Worker: sends two messages to the queue of each program, and runs the program on them. */
export default {
  async fetch(request, env) {
    const programs = (await request.json()) as Record<string, string>;
    await Promise.all(
      Object.entries(programs).map(([binding, body]) => env[binding]?.sendBatch([{ body }, { body }])),
    );
    return new Response("sent");
  },

  async queue(batch) {
    const [first] = batch.messages;
    // The end of the handler acknowledges a message that comes again.
    if (first !== undefined && first.attempts === 1) run(first.body, batch);
  },
} satisfies ExportedHandler<Env, string>;
