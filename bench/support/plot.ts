/** Lines over a logarithmic plane: what a load tester looks at first. */
export interface Plot {
  /** Of its file in bench/out, without .svg. */
  readonly name: string;
  readonly title: string;
  /** With its unit. */
  readonly xTitle: string;
  readonly yTitle: string;
  readonly lines: readonly Line[];
}

export interface Line {
  readonly label: string;
  /** Dashed for what the solid lines are compared with. */
  readonly dashed?: boolean;
  /** Positive numbers, x rising. */
  readonly points: readonly (readonly [x: number, y: number])[];
}

const WIDTH = 840;
const HEIGHT = 480;
const LEFT = 70;
const RIGHT = 210;
const TOP = 44;
const BOTTOM = 56;
/** Told apart by readers who do not see all colours (Okabe and Ito). */
const COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#000000'];

/** A logarithmic axis from one power of ten to another, along which 0 is the lower end and 1 the upper. */
class LogAxis {
  readonly #from: number;
  readonly #to: number;

  constructor(values: readonly number[]) {
    this.#from = Math.floor(Math.log10(Math.min(...values)));
    this.#to = Math.max(this.#from + 1, Math.ceil(Math.log10(Math.max(...values))));
  }

  at(value: number): number {
    return (Math.log10(value) - this.#from) / (this.#to - this.#from);
  }

  /** Powers of ten, and 2 and 5 times them where the axis is short. */
  ticks(): number[] {
    const steps = this.#to - this.#from <= 3 ? [1, 2, 5] : [1];
    const ticks: number[] = [];
    for (let power = this.#from; power <= this.#to; power++) {
      for (const step of steps) if (step === 1 || power < this.#to) ticks.push(step * 10 ** power);
    }
    return ticks;
  }
}

/** The plot as an SVG document; undefined when it has no point. */
export function svgOf(plot: Plot): string | undefined {
  const points = plot.lines.flatMap((line) => line.points);
  if (points.length === 0) return undefined;
  const xAxis = new LogAxis(points.map(([x]) => x));
  const yAxis = new LogAxis(points.map(([, y]) => y));
  const x = (value: number) => round(LEFT + xAxis.at(value) * (WIDTH - LEFT - RIGHT));
  const y = (value: number) => round(HEIGHT - BOTTOM - yAxis.at(value) * (HEIGHT - TOP - BOTTOM));
  const right = WIDTH - RIGHT;
  const bottom = HEIGHT - BOTTOM;
  const parts = [
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#ffffff"/>`,
    text(LEFT, 24, plot.title, 'font-size="15" font-weight="bold"'),
    text((LEFT + right) / 2, HEIGHT - 14, plot.xTitle, 'text-anchor="middle"'),
    text(
      0,
      0,
      plot.yTitle,
      `text-anchor="middle" transform="translate(16 ${(TOP + bottom) / 2}) rotate(-90)"`,
    ),
    ...xAxis.ticks().map((tick) => gridLine(x(tick), TOP, x(tick), bottom)),
    ...xAxis.ticks().map((tick) => text(x(tick), bottom + 18, tickText(tick), 'text-anchor="middle"')),
    ...yAxis.ticks().map((tick) => gridLine(LEFT, y(tick), right, y(tick))),
    ...yAxis.ticks().map((tick) => text(LEFT - 6, y(tick) + 4, tickText(tick), 'text-anchor="end"')),
    ...plot.lines.map((line, i) => drawn(line, COLOURS[i % COLOURS.length], x, y)),
    ...plot.lines.map((line, i) => legend(line, COLOURS[i % COLOURS.length], right + 14, TOP + 10 + 20 * i)),
  ];
  const size = `width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}"`;
  const font = 'font-family="system-ui, sans-serif" font-size="12" fill="#222222"';
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} ${font}>\n${parts.join('\n')}\n</svg>\n`;
}

function drawn(line: Line, colour: string, x: (v: number) => number, y: (v: number) => number): string {
  const path = line.points.map(([px, py], i) => `${i === 0 ? 'M' : 'L'}${x(px)} ${y(py)}`).join('');
  const dots = line.points.map(([px, py]) => `<circle cx="${x(px)}" cy="${y(py)}" r="3" fill="${colour}"/>`);
  return `<path d="${path}" fill="none" stroke="${colour}" stroke-width="2"${dashes(line)}/>${dots.join('')}`;
}

function legend(line: Line, colour: string, left: number, middle: number): string {
  const stroke = `stroke="${colour}" stroke-width="2"${dashes(line)}`;
  return `<path d="M${left} ${middle}h24" ${stroke}/>${text(left + 30, middle + 4, line.label, '')}`;
}

function dashes(line: Line): string {
  return line.dashed === true ? ' stroke-dasharray="5 4"' : '';
}

function gridLine(x1: number, y1: number, x2: number, y2: number): string {
  return `<path d="M${x1} ${y1}L${x2} ${y2}" stroke="#dddddd"/>`;
}

function text(x: number, y: number, content: string, attributes: string): string {
  const escaped = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<text x="${x}" y="${y}" ${attributes}>${escaped}</text>`;
}

function tickText(value: number): string {
  if (value >= 1_000_000) return `${value / 1_000_000}M`;
  if (value >= 1_000) return `${value / 1_000}k`;
  return String(Number(value.toPrecision(3)));
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
