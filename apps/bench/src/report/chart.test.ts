import { describe, expect, it } from "vitest";
import { barLength, type Chart, chartSvg, PALETTES } from "./chart.ts";

const CHART: Chart = {
  title: "Messages a second",
  subtitle: "one machine & one run",
  legend: [
    { kind: "ours", text: "Sluice" },
    { kind: "memory", text: "from memory" },
  ],
  format: (value) => value.toLocaleString("en"),
  panels: [
    {
      title: "send -> handled",
      bars: [
        { label: "Sluice", value: 80_000, kind: "ours" },
        { label: 'other "fast" one', value: 20_000, kind: "memory" },
        { label: "absent", value: null, kind: "disk" },
      ],
    },
    { title: "send", bars: [{ label: "Sluice", value: 10, kind: "ours" }] },
  ],
};

function widths(svg: string): number[] {
  return [...svg.matchAll(/ width="(\d+)" height="14"/g)].map(([, width]) => Number(width));
}

describe("a chart", () => {
  const svg = chartSvg(CHART);

  it("draws bars in proportion to the longest of their own panel", () => {
    const [ours = 0, other, absent, alone] = widths(svg);
    expect(other).toBe(Math.round(ours / 4));
    expect(absent).toBe(0);
    expect(alone).toBe(ours);
  });

  it("says every figure beside its bar and in its description", () => {
    expect(svg).toContain(">80,000</text>");
    expect(svg).toContain(">not measured</text>");
    expect(svg).toContain("Sluice 80,000, other &quot;fast&quot; one 20,000, absent not measured.");
  });

  it("has the colours of light surroundings, and of dark ones where those are preferred", () => {
    const [light = "", dark = ""] = svg.split("@media (prefers-color-scheme: dark)");
    expect(light).toContain(PALETTES.light.paper);
    expect(light).not.toContain(PALETTES.dark.paper);
    expect(dark).toContain(PALETTES.dark.paper);
  });

  it("is well-formed with any names", () => {
    expect(svg).toContain("one machine &amp; one run");
    expect(svg).toContain("send -&gt; handled");
    const opened = [...svg.matchAll(/<(svg|title|desc|style|text)[ >]/g)].length;
    const closed = [...svg.matchAll(/<\/(svg|title|desc|style|text)>/g)].length;
    expect(opened).toBe(closed);
  });

  it("is tall enough for its last bar", () => {
    const height = Number(/ height="(\d+)" role/.exec(svg)?.[1]);
    const bottoms = [...svg.matchAll(/ y="(\d+)" width="\d+" height="14"/g)].map(([, y]) => Number(y) + 14);
    expect(Math.max(...bottoms)).toBeLessThan(height);
  });
});

describe("a bar", () => {
  it("is never longer than the longest", () => {
    expect(barLength(5, 5)).toBeGreaterThan(barLength(4, 5));
  });

  it("can be seen however small its value, and not where there is none", () => {
    expect(barLength(1, 1_000_000)).toBe(1);
    expect(barLength(0, 1_000_000)).toBe(0);
    expect(barLength(0, 0)).toBe(0);
  });
});

describe.each(["light", "dark"] as const)("a %s palette", (scheme) => {
  const { paper, ...colours } = PALETTES[scheme];

  it.each(Object.entries(colours))("lets %s be seen on its paper", (name, colour) => {
    const isText = name === "text" || name === "faint";
    expect(contrast(colour, paper)).toBeGreaterThanOrEqual(isText ? 4.5 : 3);
  });
});

/** Contrast of two colours as WCAG counts it, 1 to 21. */
function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
