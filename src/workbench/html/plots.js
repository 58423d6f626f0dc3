// src/workbench/html/plots.js: speed-up bars, the heat map of cases and backends, errors.

const kMostCases = 48;  // a plot of more is no longer read; the table has them all
const kTop = 26, kLabel = 18, kGap = 10, kLabelLimit = 56;

const axis_above = (scale, height, text, place = (tick) => share(scale, tick)) => ticks(scale).map((tick) => [
  line(place(tick), kTop - 6, place(tick), height, 'grid'), label(percent(place(tick)), 12, 'tick middle',
    text(tick))]);
const case_label = (y, words, full) => draw('g', null, tip(full),
  label('0', y + 12, 'label halo', shorten(words, kLabelLimit)));

function speedup_bar(scale, ratio, series, y) {
  const one = share(scale, 1), end = share(scale, ratio.median), right = end >= one,
    known = ratio.low !== null && ratio.high !== null;
  const edge = known ? share(scale, right ? ratio.high : ratio.low) : end;
  const state = !ratio.counted ? ' out' : !faster(ratio) && !slower(ratio) ? ' even' : '';
  const words = `${ratio.case}: ${ratio.backend} is ${ratio_text(ratio.median)} as fast as ${ratio.against}`
    + (known ? ` (${ratio.low.toFixed(2)} to ${ratio.high.toFixed(2)})` : '')
      + (ratio.counted ? '' : '; not in the mean');
  return draw('g', null, tip(words), bar_of(`bar ${series_class(series)}${state}`, Math.min(one, end), y,
    Math.abs(end - one), 12),
    known ? line(share(scale, ratio.low), y + 6, share(scale, ratio.high), y + 6, 'whisker') : '',
    label(percent(edge), y + 10, right ? 'value' : 'value end', ratio_text(ratio.median),
      { dx: right ? 6 : -6 }));
}

// The slowest and the fastest cases where there are too many.
function extremes(groups) {
  if (groups.length <= kMostCases) return groups;
  const order = groups.map(([, bars]) => bars[0].median).sort((a, b) => a - b);
  const slow = order[kMostCases / 2 - 1], fast = order[order.length - kMostCases / 2];
  return groups.filter(([, bars]) => bars[0].median <= slow || bars[0].median >= fast);
}

function speedup_figure(model) {
  const by_case = new Map([...model.cases.keys()].map((name) => [name, []]));
  for (const ratio of model.pairs.flatMap((pair) => pair.ratios)) by_case.set(ratio.case,
    [...(by_case.get(ratio.case) ?? []), ratio]);
  const all = [...by_case].filter(([, bars]) => bars.length > 0), groups = extremes(all);
  if (groups.length === 0) return '';
  const scale = scale_around([0.8, 1.25,
    ...groups.flatMap(([, bars]) => bars.flatMap((r) => [r.median, r.low ?? r.median, r.high ?? r.median]))],
    0.14);
  // else all bars had one colour
  const by_peer = model.pairs.length > 1 && model.pairs.every((p) => p.backend === model.pairs[0].backend);
  const colour = (r) => model.series(by_peer ? r.against : r.backend), bars = [];
  let y = kTop;
  for (const [name, ratios] of groups) {
    bars.push(case_label(y, model.label(name), name), line(share(scale, 1), y + kLabel - 2, share(scale, 1), y
      + kLabel + 16 * ratios.length - 2, 'one'));
    y += kLabel;
    for (const ratio of ratios) bars.push(speedup_bar(scale, ratio, colour(ratio), (y += 16) - 16));
    y += kGap;
  }
  const caption = (model.derived ? 'Without intervals. Right of the line is faster.'
    : 'Right of the line is faster. Thin rules are 95 % intervals; pale bars are even with 1.0, hollow ones are not in the mean.')
    + (all.length > groups.length
      ? ` The ${groups.length} slowest and fastest cases; ${all.length - groups.length} between them are in the table only.` : '');
  const key = el('ul', { class: 'legend' },
    model.pairs.map((p) => el('li', null, el('span', { class: `swatch ${series_class(colour(p))}` }),
    `${p.backend} against ${p.against}`)));
  return figure_box('Speed-up', caption, key,
    plot(y, 'Speed-up bars on a logarithmic axis with a line at 1.0',
    [axis_above(scale, y, (tick) => `${tick_text(tick)}×`), bars]));
}

function heat_cell(row, best, x, width, y) {
  let step = 'none', words = kNone, title = 'not measured';
  if (row) {
    title = `${row.backend}, ${row.case}: ${row.verdict}`;
    if (!passed(row)) words = row.verdict;
    if (row.verdict === 'fail' || row.verdict === 'error') step = 'bad';
    if (passed(row) && positive(row.median_us)) {
      const part = best / row.median_us;
      step = part >= 0.97 ? 'h4' : part >= 0.8 ? 'h3' : part >= 0.6 ? 'h2' : part >= 0.4 ? 'h1' : 'h0';
      words = duration_text(row.median_us);
      title += `, ${words}, ${(100 * part).toFixed(0)} % of the best speed`;
    }
  }
  return draw('g', { class: `heat ${step}` }, tip(title), bar_of('', x, y, width, 24),
    label(percent(x + width / 2), y + 16, 'middle', words));
}

function heat_figure(model) {
  if (model.backends.length < 2 || model.cases.size < 2) return '';
  const width = 1 / model.backends.length, shown = [...model.cases.values()].slice(0, kMostCases), body = [];
  model.backends.forEach((backend, i) => body.push(label(percent((i + 0.5) * width), 12, 'tick middle head',
    shorten(backend, 14))));
  let y = kTop;
  for (const one of shown) {
    const best = Math.min(...one.rows.filter((row) => passed(row) && positive(row.median_us))
      .map((row) => row.median_us));
    body.push(draw('g', null, tip(one.full), label('0', y + 12, 'label', shorten(one.label, kLabelLimit))),
      model.backends.map((backend, i) => heat_cell(model.row(one.name, backend), best, i * width, width, y
        + kLabel)));
    y += kLabel + 24 + kGap;
  }
  const key = [['h4', 'best'], ['h3', 'over 80 %'], ['h2', 'over 60 %'], ['h1', 'over 40 %'],
    ['h0', 'less of its speed']];
  return figure_box('Cases and backends', 'Median time of a call; the fastest backend of a case is darkest.'
    + (shown.length < model.cases.size
      ? ` The first ${shown.length} of ${model.cases.size} cases; the rest is in the table.` : ''),
  el('ul', { class: 'legend heat-key' },
    key.map(([step, words]) => el('li', null, el('span', { class: step }), words))),
  plot(y, 'Heat map of median times, cases by backends', body));
}

// --- errors ----------------------------------------------------------------------------------------

const kLane = 44, kMostLanes = 40;
const kZero = 0.03, kFirst = 0.1;  // where an error of zero stands, left of the logarithmic axis

function accuracy_figure(model, title, caption, measure, with_tolerance) {
  const lanes = new Map();
  for (const row of model.rows.filter((one) => measure(one) !== null)) {
    const name = joined([row.op, row.dtype]);
    if (!lanes.has(name) && lanes.size < kMostLanes) lanes.set(name, []);
    lanes.get(name)?.push(row);
  }
  if (lanes.size === 0) return '';
  const tolerance_of = (rows) =>
    (with_tolerance ? positive(Math.max(0, ...rows.map((row) => figure(row.tolerance) ?? 0))) : null);
  const values = [...lanes.values()].flatMap((rows) => [...rows.map(measure), tolerance_of(rows)])
    .filter(positive);
  const scale = scale_around(values.length > 0 ? values : [1], 0.06), height = kTop + kLane * lanes.size;
  const place = (value) => (value <= 0 ? kZero : kFirst + (1 - kFirst) * share(scale, within(scale, value)));
  const body = [label(percent(kZero), 12, 'tick middle', '0'), line(kZero, kTop - 6, kZero, height, 'grid'),
    axis_above(scale, height, tick_text, place)];
  [...lanes].forEach(([name, rows], i) => {
    const y = kTop + kLane * i, middle = y + 26, tolerance = tolerance_of(rows);
    body.push(label('0', y + 10, 'label halo', shorten(name, kLabelLimit)),
      line(0, middle, 1, middle, 'lane'),
      tolerance ? line(place(tolerance), middle - 9, place(tolerance), middle + 9, 'tolerance',
        `tolerance ${error_text(tolerance)}`) : '');
    for (const row of rows) {  // backends stand a little above each other, so that none hides another
      const series = model.series(row.backend),
        words = `${row.backend}: ${model.cases.get(row.case).full}, ${error_text(measure(row))}`;
      const at = [place(measure(row)), middle + 3 * (series % 5 - 2)];
      body.push(row.verdict === 'fail' ? failed_marker(...at, `failed: ${words}`)
        : marker(series, ...at, words));
    }
  });
  return figure_box(title, caption, legend(model),
    plot(height, `${title} of ${lanes.size} operators and types`, body));
}

const accuracy_figures = (model) => [
  accuracy_figure(model, 'Error',
    'Relative L2 error against the definition in double. The tick is what the checker allows an element; a cross failed.',
    (row) => figure(row.l2_rel) ?? figure(row.max_rel), true),
  accuracy_figure(model, 'Units in the last place',
    '99th percentile of the distance in ulp of the output type; zero means equal bits.',
    (row) => figure(row.ulp_p99), false)];
