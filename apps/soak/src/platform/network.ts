import type { World } from "../world/world.ts";

const LOST = new Error("The call was cut off.");

/**
 * Carries a request and its answer between two objects, or between an object and a Worker. Each takes its own time, so
 * messages overtake each other; they get lost, come late and come twice. As on the platform, a call that is lost
 * always fails in the end.
 *
 * @param arrives called when the request arrives; its promise may never settle.
 * @param doubles whether the request may arrive twice. Default: it may.
 */
export function exchange<Answer>(
  world: World,
  arrives: () => Promise<Answer>,
  doubles = true,
): Promise<Answer> {
  const { loop, random, rates } = world;
  return new Promise((resolve, reject) => {
    const travel = (ms: number, arrive: () => void) => {
      world.travelling += 1;
      loop.after(ms, () => {
        world.travelling -= 1;
        arrive();
      });
    };
    const lose = () => travel(random.pick([5, 1_000, 30_000]), () => reject(LOST));
    const reply = (answer: Answer) => {
      if (world.fault(rates.lostReply, "reply lost")) {
        lose();
        return;
      }
      travel(drawLatency(world), () => resolve(answer));
      if (world.fault(rates.doubled, "reply doubled")) travel(drawLatency(world), () => resolve(answer));
    };
    const refuse = (error: unknown) => travel(drawLatency(world), () => reject(error));
    if (world.fault(rates.lostRequest, "request lost")) {
      lose();
      return;
    }
    const arrive = () => void arrives().then(reply, refuse);
    travel(drawLatency(world), arrive);
    if (doubles && world.fault(rates.doubled, "request doubled")) travel(drawLatency(world), arrive);
  });
}

function drawLatency(world: World): number {
  const { random, rates } = world;
  if (world.fault(rates.delayed, "request or reply delayed")) return random.pick([200, 3_000, 40_000]);
  return random.pick([0, 0, 1, 2, 5, 20]);
}
