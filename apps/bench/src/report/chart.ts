/** Look of a bar, which the legend explains. */
export type BarKind = "ours" | "disk" | "memory";

export interface Bar {
  readonly label: string;
  /** `null` if it could not be measured: the chart says so beside the label. */
  readonly value: number | null;
  readonly kind: BarKind;
}

/** Bars that share a scale, from 0 to the longest. */
interface Panel {
  readonly title: string;
  readonly bars: readonly Bar[];
}

export interface Chart {
  readonly title: string;
  /** One line under the title. */
  readonly subtitle: string;
  readonly panels: readonly Panel[];
  /** Names of the kinds of bars in the legend, in order. */
  readonly legend: readonly { readonly kind: BarKind; readonly text: string }[];
  readonly format: (value: number) => string;
}

const WIDTH = 900;
const MARGIN = 24;
const LABEL_WIDTH = 250;
const VALUE_WIDTH = 90;
const BAR_MAX = WIDTH - 2 * MARGIN - LABEL_WIDTH - VALUE_WIDTH;
const BAR_HEIGHT = 14;
const BAR_STEP = 20;
const PANEL_TITLE_HEIGHT = 28;
const PANEL_GAP = 14;
const HEADER_HEIGHT = 96;
const LEGEND_STEP = 215;

type Colour = "paper" | "text" | "faint" | "ours" | "disk" | "memory";

/** Colours for light and for dark surroundings; a test holds them to a readable contrast with their paper. */
export const PALETTES: Readonly<Record<"light" | "dark", Readonly<Record<Colour, string>>>> = {
  light: {
    paper: "#ffffff",
    text: "#1f2328",
    faint: "#59636e",
    ours: "#c2410c",
    disk: "#2563a8",
    memory: "#818b98",
  },
  dark: {
    paper: "#0d1117",
    text: "#f0f6fc",
    faint: "#9198a1",
    ours: "#fb923c",
    disk: "#58a6ff",
    memory: "#8b949e",
  },
};

const STYLE = `
  text { font: 12px system-ui, sans-serif }
  .title { font-size: 17px; font-weight: 600 }
  .panel { font-size: 13px; font-weight: 600 }
  .value { font-variant-numeric: tabular-nums }
${rules("light")}
  @media (prefers-color-scheme: dark) {
${rules("dark")}
  }`;

function rules(scheme: "light" | "dark"): string {
  return Object.entries(PALETTES[scheme])
    .map(([name, colour]) => `  ${name === "text" ? "text" : `.${name}`} { fill: ${colour} }`)
    .join("\n");
}

/** Draws horizontal bars as an SVG that follows the reader's colour scheme and names every bar to a screen reader. */
export function chartSvg(chart: Chart): string {
  const height = HEADER_HEIGHT + chart.panels.reduce((sum, panel) => sum + panelHeight(panel), 0) + MARGIN;
  let top = HEADER_HEIGHT;
  const panels = chart.panels.map((panel) => {
    const drawn = drawPanel(panel, top, chart.format);
    top += panelHeight(panel);
    return drawn;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" ` +
      `height="${height}" role="img" aria-labelledby="t d">`,
    `<title id="t">${escapeXml(chart.title)}</title>`,
    `<desc id="d">${escapeXml(describe(chart))}</desc>`,
    `<style>${STYLE}</style>`,
    `<rect class="paper" width="${WIDTH}" height="${height}" rx="8"/>`,
    text(MARGIN, 34, chart.title, "title"),
    text(MARGIN, 54, chart.subtitle, "faint"),
    ...chart.legend.flatMap(({ kind, text: label }, i) => [
      `<rect class="${kind}" x="${MARGIN + i * LEGEND_STEP}" y="68" width="12" height="12" rx="2"/>`,
      text(MARGIN + i * LEGEND_STEP + 18, 78, label, "faint"),
    ]),
    ...panels,
    "</svg>",
    "",
  ].join("\n");
}

/** Length of a bar in the chart's units: 0 for 0, and at least 1 for more. */
export function barLength(value: number, longest: number): number {
  if (value <= 0 || longest <= 0) return 0;
  return Math.max(1, Math.round((BAR_MAX * value) / longest));
}

function panelHeight({ bars }: Panel): number {
  return PANEL_TITLE_HEIGHT + bars.length * BAR_STEP + PANEL_GAP;
}

function drawPanel({ title, bars }: Panel, top: number, format: (value: number) => string): string {
  const longest = Math.max(0, ...bars.map(({ value }) => value ?? 0));
  const x = MARGIN + LABEL_WIDTH;
  const rows = bars.map(({ label, value, kind }, i) => {
    const y = top + PANEL_TITLE_HEIGHT + i * BAR_STEP;
    const length = barLength(value ?? 0, longest);
    const figure = value === null ? "not measured" : format(value);
    return [
      text(x - 8, y + 11, label, "", "end"),
      `<rect class="${kind}" x="${x}" y="${y}" width="${length}" height="${BAR_HEIGHT}" rx="2"/>`,
      text(x + length + 6, y + 11, figure, "value"),
    ].join("");
  });
  return [text(MARGIN, top + 16, title, "panel"), ...rows].join("\n");
}

function text(x: number, y: number, content: string, className: string, anchor = "start"): string {
  const style = className === "" ? "" : ` class="${className}"`;
  const place = anchor === "start" ? "" : ` text-anchor="${anchor}"`;
  return `<text x="${x}" y="${y}"${style}${place}>${escapeXml(content)}</text>`;
}

function describe({ panels, format }: Chart): string {
  return panels
    .map(({ title, bars }) => {
      const figures = bars.map(
        ({ label, value }) => `${label} ${value === null ? "not measured" : format(value)}`,
      );
      return `${title}: ${figures.join(", ")}.`;
    })
    .join(" ");
}

function escapeXml(content: string): string {
  return content
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
