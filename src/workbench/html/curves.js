// src/workbench/html/curves.js: the roofline, time against size, and a sweep's ratios over size.

// --- roofline --------------------------------------------------------------------------------------

const kRoofline = { top: 34, bottom: 360, height: 400 }, kMostRooflines = 4, kLetter = 13;

function roofs_of(environment, threads, rows) {
  const nominal = object(environment.nominal);
  const measured = list(environment.measured).map(object).filter((one) => one.threads === threads);
  const used = (word) => rows.some((row) => describe(row.numerics).includes(word));
  const kinds = [['f32', 'f32_gflops', true], ['bf16', 'bf16_dot_gflops', used('bf16_dot')],
    ['int8', 'int8_gops', used('int8')], ['AMX bf16', 'amx_bf16_gflops', used('amx')]];
  const roof = (name, value, is_nominal) => (positive(value) ? [{ name, value, nominal: is_nominal }] : []);
  const best = (stream) => Math.max(0, ...['read', 'copy', 'copy_nt'].map((key) => figure(stream[key]) ?? 0));
  const highest_first = (roofs) => roofs.sort((a, b) => b.value - a.value);
  // A core that is faster than its nominal clock has a higher limit.
  const boost = Math.max(1, ...measured.map((one) =>
    positive(one.ghz) && positive(environment.nominal_ghz) ? one.ghz / environment.nominal_ghz : 1));
  const streams = measured.flatMap((one) => list(one.streams).map(object));
  return {
    compute: highest_first(kinds.filter(([, , is]) => is).flatMap(([name, key]) => [
      ...roof(name, nominal[`${key}_per_core`] * Math.max(1, threads) * boost, true),
      ...measured.flatMap((one) => roof(name, one[key], false))])),
    bandwidth: highest_first([...roof('DRAM', nominal.dram_gbps, true),
      ...streams.flatMap((stream) => roof(describe(stream.level), best(stream), false))]),
  };
}

const top_of = (roofs, nominal) =>
  Math.max(0, ...roofs.filter((roof) => roof.nominal === nominal).map((roof) => roof.value));
const roof_style = (roof) => (roof.nominal ? 'roof nominal' : 'roof');
const roof_words = (roof, unit) =>
  `${roof.name}${roof.nominal ? ' nominal' : ''} ${significant(roof.value)} ${unit}`;

function bandwidth_roofs(plane, roofs) {
  const lines = [], labels = [], taken = [];
  // A label moves down (or up) until it is clear of those already placed.
  const free = (y, step) => {
    while (taken.some((other) => Math.abs(other - y) < kLetter)) y += step;
    taken.push(y);
    return y;
  };
  for (const roof of roofs.bandwidth) {
    const top = top_of(roofs.compute, roof.nominal) || plane.y.high;
    const from = Math.max(plane.x.low, plane.y.low / roof.value),
      to = Math.min(plane.x.high, top / roof.value);
    if (from >= to) continue;
    const start = plane.at(from * roof.value), words = roof_words(roof, 'GB/s');
    const from_left = start + 14 < kRoofline.bottom;  // else it enters through the floor
    lines.push(line(plane.to(from), start, plane.to(to), plane.at(to * roof.value), roof_style(roof), words));
    const y = from_left ? free(start + 14, 1) : free(kRoofline.bottom - 5, -1);
    labels.push(label(percent(plane.to(from)), y, 'roof-label halo', words, { dx: from_left ? 5 : 16 }));
  }
  return [lines, labels];
}

// The labels stand above the highest roof, in its order, clear of the points below.
function compute_roofs(plane, roofs) {
  const first = roofs.compute.length > 0
    ? plane.at(roofs.compute[0].value) - 6 - kLetter * (roofs.compute.length - 1) : 0;
  return roofs.compute.map((roof, i) => {
    const widest = top_of(roofs.bandwidth, roof.nominal), y = plane.at(roof.value);
    const ridge = widest > 0 ? within(plane.x, roof.value / widest) : plane.x.low;
    return [line(plane.to(ridge), y, 1, y, roof_style(roof)),
      label('100%', first + kLetter * i, 'roof-label end',
        roof_words(roof, roof.name === 'int8' ? 'GOP/s' : 'GFLOP/s'), { dx: -4 })];
  });
}

function one_roofline(model, threads, rows) {
  const roofs = roofs_of(model.environment, threads, rows);
  const ridges = roofs.bandwidth.map((roof) => top_of(roofs.compute, roof.nominal) / roof.value)
    .filter(positive);
  const plane = plane_of([...rows.map(intensity_of), ...ridges],
    [...rows.map((row) => row.gflops), ...roofs.compute.map((roof) => roof.value)],
    kRoofline, tick_text, tick_text, [0.08, 0.07]);
  const points = rows.map((row) => marker(model.series(row.backend), plane.to(intensity_of(row)),
    plane.at(row.gflops),
    `${row.backend}: ${model.cases.get(row.case).full}, ${significant(row.gflops)} GFLOP/s`
    + ` at ${significant(intensity_of(row))} FLOP per byte`
    + (figure(row.percent_of_roofline) === null ? ''
      : `, ${row.percent_of_roofline.toFixed(0)} % of roofline`)));
  const known = roofs.compute.length + roofs.bandwidth.length > 0;
  return figure_box(`Roofline${threads ? `, ${part_text({ threads }, 'threads')}` : ''}`,
    `GFLOP/s over arithmetic intensity.${known
      ? ' Solid roofs were measured in this run, dashed ones are nominal.' : ''}`, legend(model),
    plot_with_axis(kRoofline.height, `Roofline plot of ${rows.length} rows`,
      [plane.body, label('100%', kRoofline.height - 4, 'tick end', 'FLOP per byte'),
        bandwidth_roofs(plane, roofs), compute_roofs(plane, roofs), points], plane.labels));
}

// Of the CPU by threads; a device has its own limits, which stand in its rows.
function roofline_figures(model) {
  const rows = model.rows.filter((row) => passed(row) && positive(row.gflops) && intensity_of(row));
  return [...new Set(rows.map((row) => row.threads))].slice(0, kMostRooflines)
    .map((threads) => one_roofline(model, threads, rows.filter((row) => row.threads === threads)));
}

// --- time against size -----------------------------------------------------------------------------

const kSmall = { top: 8, bottom: 222, height: 258 }, kLeastSizes = 3, kMostPlots = 18,
  kBytes = 'bytes touched';
const group_by = (rows, name) =>
  rows.reduce((all, row) => all.set(name(row), [...(all.get(name(row)) ?? []), row]), new Map());
const enough = (points) => new Set(points.map((point) => point.size)).size >= kLeastSizes;

// Along an axis: rows whose other axes are equal.
function along(rows, axis) {
  const others = (row) => axes_of(row).filter(([name]) => name !== axis)
    .map(([name, value]) => `${name}=${value}`).join(',');
  const sized = rows.filter((row) => axes_of(row).some(([name, value]) => name === axis && value > 0));
  return [...group_by(sized, others)].map(([words, found]) => ({ words, axis,
    points: found.map((row) => ({ size: axes_of(row).find(([name]) => name === axis)[1], row })) }))
      .filter((curve) => enough(curve.points));
}

// The axis whose curves cover most; where several axes move together the bytes stand for the size.
function curves_of(title, rows) {
  const axes = [...new Set(rows.flatMap((row) => axes_of(row).map(([name]) => name)))].sort();
  const covered = (curves) => curves.reduce((sum, curve) => sum + curve.points.length, 0);
  const best = axes.map((axis) => along(rows, axis)).reduce((a, b) => (covered(b) > covered(a) ? b : a), []);
  if (best.length > 0) return best.map((curve) => ({ ...curve, title: joined([title, curve.words], ', ') }));
  const points = rows.filter((row) => positive(row.bytes)).map((row) => ({ size: row.bytes, row }));
  return enough(points) ? [{ title, axis: kBytes, points }] : [];
}

const size_text = (axis) => (axis === kBytes ? bytes_text : (size) => String(Number(size.toPrecision(6))));
const short_time = (us) => (us < 1e3 ? duration_text(us).replace(/\.0+ /, ' ') : us < 1e6
  ? `${Number((us / 1e3).toPrecision(3))} ms` : `${us / 1e6} s`);

function curve_of(model, plane, points) {
  const marks = [], lines = [];
  [...points].sort((a, b) => a.size - b.size).forEach((point, i, all) => {
    const { row, size } = point, series = model.series(row.backend), x = plane.to(size),
      y = plane.at(row.median_us);
    if (i > 0) lines.push(line(plane.to(all[i - 1].size), plane.at(all[i - 1].row.median_us), x, y,
      `line ${series_class(series)}`));
    if (positive(row.p10_us) && positive(row.p90_us))
      lines.push(line(x, plane.at(within(plane.y, row.p10_us)), x, plane.at(within(plane.y, row.p90_us)),
        `range ${series_class(series)}`));
    marks.push(marker(series, x, y,
      `${row.backend}: ${describe(row.shape)}, ${duration_text(row.median_us)}`));
  });
  return [lines, marks];
}

function small_figure(title, description, axis, plane, body) {
  return el('figure', { class: 'small' }, el('figcaption', null, el('h4', null, title)),
    plot_with_axis(kSmall.height, description,
    [plane.body, body, label('100%', kSmall.height - 0.5, 'tick end', axis)], plane.labels));
}

function size_figures(model) {
  if (list(model.sweep.points).length > 0) return '';  // random cases make no curves
  const rows = model.rows.filter((row) => passed(row) && positive(row.median_us));
  const setting = (row) => joined([joined([row.op, row.dtype, row.options]), row.device !== 'cpu'
    && row.device, row.threads && `${row.threads} thr`, row.cache, row.regime], ', ');
  const curves = [...group_by(rows, setting)].flatMap(([title, found]) => curves_of(title, found));
  if (curves.length === 0) return '';
  const more = curves.length > kMostPlots ? ` The first ${kMostPlots} of ${curves.length} curves.` : '';
  return [el('h3', null, 'Time against size'),
    el('p', { class: 'soft' },
    `Both axes are logarithmic; upright rules reach from the 10th to the 90th percentile.${more}`),
    legend(model),
    el('div', { class: 'figures three' }, curves.slice(0, kMostPlots).map((curve) => {
      const plane = plane_of(curve.points.map((p) => p.size), curve.points.map((p) => p.row.median_us),
        kSmall, size_text(curve.axis), short_time);
      return small_figure(curve.title, `Time against ${curve.axis} for ${curve.title}`, curve.axis, plane,
        model.backends.map((backend) => curve_of(model, plane,
          curve.points.filter((p) => p.row.backend === backend))));
    }))];
}

// --- sweeps ----------------------------------------------------------------------------------------

const beside = (point) => describe(point.against) || 'the roofline';

function sweep_plot(model, title, axis, points, size) {
  const plane = plane_of(points.map(size), [0.5, 1, ...points.map((p) => p.ratio)], kSmall, size_text(axis),
    (tick) => `${tick_text(tick)}×`);
  return small_figure(title, `Ratio over ${axis}`, axis, plane, [line(0, plane.at(1), 1, plane.at(1), 'one'),
    points.map((p) => marker(model.series(p.against || p.backend), plane.to(size(p)), plane.at(p.ratio),
      `${p.case}: ${ratio_text(p.ratio)} of ${beside(p)}, ${p.kernel}`))]);
}

function worst_table(points) {
  return el('table', { class: 'plain' },
    el('thead', null, el('tr', null, head_cell('Ratio', true), ['Beside', 'Case', 'Kernel and why it ran',
    'Again'].map((words) => head_cell(words)))),
    el('tbody', null, points.map((p) => el('tr', null, el('td', { class: 'num' }, ratio_text(p.ratio)),
      el('td', null, beside(p)), el('td', { class: 'wrap' }, p.case),
      el('td', { class: 'wrap' }, `${p.backend} ${joined([p.kernel, p.numerics], ', ')}: ${describe(p.why)}`),
        el('td', { class: 'wrap' }, el('code', null, describe(p.command)))))));
}

// The ratio over size: of all cases by their bytes, of one operator by each axis as well.
function sweep_figures(model) {
  const points = list(model.sweep.points).map(object).filter((p) => positive(p.ratio) && positive(p.bytes));
  if (points.length === 0) return '';
  const kinds = [[false, 'Beside the best peer'], [true, 'Of a roof']].map(([of_roof, title]) =>
    [title, points.filter((p) => Boolean(p.of_roof) === of_roof)]).filter(([, found]) => found.length > 0);
  const axes = model.ops.length === 1
    ? [...new Set(model.rows.flatMap((row) => axes_of(row).map(([name]) => name)))] : [];
  const shape = (p) => new Map(axes_of(model.cases.get(p.case)?.rows[0] ?? {}));
  const worst = list(model.sweep.worst).map(object).filter((p) => positive(p.ratio));
  return [el('h3', null, 'Ratio over size'),
    el('p', { class: 'soft' },
    `${count_text(points.length, 'case', 'cases')} drawn by seed ${describe(model.sweep.seed)}.`
      + ' Above the line is faster; a marker’s shape and colour is whom it stands beside.'), legend(model),
    el('div', { class: 'figures three' },
      kinds.flatMap(([title, found]) => [sweep_plot(model, title, kBytes, found, (p) => p.bytes),
      axes.map((axis) => [axis, found.filter((p) => shape(p).get(axis) > 0)])
        .filter(([, some]) => some.length > 0)
        .map(([axis, some]) => sweep_plot(model, `${title}, ${axis}`, axis, some, (p) => shape(p)
          .get(axis)))])),
    worst.length > 0 ? [el('h3', null, 'The worst cases'),
      scroll_box('The worst cases', false, worst_table(worst))] : ''];
}

function plots_section(model) {
  const figures = [speedup_figure(model), roofline_figures(model), heat_figure(model),
    accuracy_figures(model)].flat(Infinity).filter(Boolean);
  const others = [sweep_figures(model), size_figures(model)].flat(Infinity).filter(Boolean);
  return [el('h2', { id: 'h-plots' }, 'Plots'), figures.length + others.length === 0
    ? el('p', { class: 'soft' }, 'There is nothing to draw.') : '',
    figures.length > 0 ? el('div', { class: 'figures' }, figures) : '', others];
}
