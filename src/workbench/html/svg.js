// src/workbench/html/svg.js: scales, ticks and shapes. Plots have no viewBox: x is in per cent of the
// width and y in pixels, so that a plot fills a phone or a desktop while its letters keep their size.

const kSeries = 8, kMarkers = 5;  // colours in the style sheet, shapes in the page

const share = (scale, value) => Math.log(value / scale.low) / Math.log(scale.high / scale.low);
const within = (scale, value) => Math.min(Math.max(value, scale.low), scale.high);

// Logarithmic, around the values, each end moved out by `pad` of the span; two-fold wide at least.
function scale_around(values, pad) {
  if (values.length === 0) return { low: 1, high: 10 };
  let low = values.reduce((a, b) => Math.min(a, b)), high = values.reduce((a, b) => Math.max(a, b));
  const widen = Math.sqrt(Math.max(1, 2 / (high / low)));
  low /= widen;
  high *= widen;
  const factor = (high / low) ** pad;
  return { low: low / factor, high: high * factor };
}

function multiples(scale, factors) {
  const first = Math.floor(Math.log10(scale.low)), last = Math.ceil(Math.log10(scale.high));
  const step = Math.max(1, Math.floor((last - first + 5) / 7)), found = [];
  for (let power = first; power <= last; power += 1) {
    if (factors.length === 1 && (power - first) % step !== 0) continue;
    for (const factor of factors) {
      const tick = Number(`${factor}e${power}`);
      if (tick >= scale.low && tick <= scale.high) found.push(tick);
    }
  }
  return found;
}

function ticks(scale) {
  const decades = multiples(scale, [1]), three = multiples(scale, [1, 2, 5]);
  if (decades.length >= 3) return decades;
  return three.length >= 2 ? three : multiples(scale, [1, 1.5, 2, 3, 4, 5, 6, 8]);
}

function tick_text(value) {
  if (value < 1e4 && value >= 1e-3) return String(Number(value.toPrecision(6)));
  const power = Math.floor(Math.log10(value) + 1e-9);
  return `${Number((value / 10 ** power).toPrecision(6))}e${power}`;
}

const percent = (part) => `${(100 * part).toFixed(2)}%`;
const px = (y) => y.toFixed(1);
const series_class = (series) => `s${series % kSeries}`;
const tip = (words) => draw('title', null, words);
const line = (x1, y1, x2, y2, classes, words) => draw('line',
  { class: classes, x1: percent(x1), y1: px(y1), x2: percent(x2), y2: px(y2) }, words && tip(words));
const label = (x, y, classes, words, more) => draw('text', { class: classes, x, y: px(y), ...more }, words);
const bar_of = (classes, x, y, width, height) => draw('rect',
  { class: classes, x: percent(x), y: px(y), width: percent(width), height });
const marker = (series, x, y, words) => draw('use', { class: `mark ${series_class(series)}`,
  href: `#m${series % kMarkers}`, x: percent(x), y: px(y) }, tip(words));
const failed_marker = (x, y, words) =>
  draw('use', { class: 'mark-bad', href: '#m-bad', x: percent(x), y: px(y) }, tip(words));

const plot = (height, description, body) => draw('svg', { class: 'plot', role: 'img', width: '100%',
  height: Math.round(height), 'aria-label': description }, body);

// The same with a column of labels at its left: [y, words].
function plot_with_axis(height, description, body, labels) {
  const axis = draw('svg', { class: 'axis', width: 52, height: Math.round(height), 'aria-hidden': 'true' },
    labels.map(([y, words]) => label('100%', y + 4, 'tick', words, { dx: -8, 'text-anchor': 'end' })));
  return el('div', { class: 'with-axis' }, axis, plot(height, description, body));
}

const figure_box = (title, caption, ...body) => el('figure', null,
  el('figcaption', null, el('h3', null, title), el('p', null, caption)), body);

const legend = (model) => el('ul', { class: 'legend' }, model.backends.map((backend, i) => el('li', null,
  draw('svg', { width: 16, height: 14, 'aria-hidden': 'true' }, marker(i, 0.5, 7, backend)), backend)));

// A logarithmic plane between fixed heights: both grids, and where a point lies.
function plane_of(xs, ys, size, x_text, y_text, pads = [0.07, 0.1]) {
  const x = scale_around(xs, pads[0]), y = scale_around(ys, pads[1]);
  const at = (value) => size.bottom - share(y, value) * (size.bottom - size.top);
  const body = [], labels = [];
  for (const tick of ticks(x)) {
    body.push(line(share(x, tick), size.top, share(x, tick), size.bottom, 'grid'),
      label(percent(share(x, tick)), size.bottom + 18, 'tick middle', x_text(tick)));
  }
  for (const tick of ticks(y)) {
    body.push(line(0, at(tick), 1, at(tick), 'grid'));
    labels.push([at(tick), y_text(tick)]);
  }
  return { x, y, at, body, labels, to: (value) => share(x, value) };
}
