// src/workbench/html/table.js: the table of results, sorted and filtered, and that of failures and
// skips.

// Signs that every font has: dots and crosses of Latin-1 and geometry.
const kSigns = { pass: '●', fail: '×', skipped: '○', error: '!' };
const badge = (row) => el('span', { class: `badge v-${row.verdict}`, title: row.reason || null },
  el('span', { 'aria-hidden': 'true' }, kSigns[row.verdict]), ` ${row.verdict}`);

const words_cell = (classes, words) => (words ? el('td', { class: classes }, words)
  : el('td', { class: `${classes} na` }, kNone));
const figure_cell = (classes, value, text) => (figure(value) === null ? el('td', { class: `${classes} na` },
  kNone)
  : el('td', { class: classes, 'data-v': value }, text(value)));

// The slices' medians in round order: drift and outliers at a glance.
function sparkline(row) {
  const slices = list(row.slices_us).filter((us) => Number.isFinite(us));
  if (slices.length < 2) return '';
  const least = Math.min(...slices), most = Math.max(...slices), middle = (least + most) / 2;
  const span = Math.max(most - least, 0.1 * middle), step = 54 / (slices.length - 1);
  const points = slices.map((us, i) =>
    `${(1 + step * i).toFixed(1)},${(span > 0 ? 8 - 12 * (us - middle) / span : 8).toFixed(1)}`);
  const words = `${slices.length} slices, ${duration_text(least)} to ${duration_text(most)}`;
  return draw('svg', { class: 'spark', width: 56, height: 16, role: 'img', 'aria-label': words }, tip(words),
    draw('polyline', { points: points.join(' ') }));
}

function speedup_cell(model, row) {
  if (row.backend === model.baseline && positive(row.median_us)) return el('td',
    { class: 'num soft', 'data-v': 1 }, 'baseline');
  const ratio = positive(row.median_us) && model.speed_up(row);
  if (!ratio) return words_cell('num', '');
  const style = slower(ratio) ? ' slower' : faster(ratio) ? ' faster' : '';
  const interval = ratio.low !== null && ratio.high !== null
    ? el('small', null, `${ratio.low.toFixed(2)}–${ratio.high.toFixed(2)}`) : '';
  return el('td', { class: `num${style}`, 'data-v': ratio.median }, el('b', null, ratio_text(ratio.median)),
    ' ', interval);
}

function roofline_cell(row) {
  const part = figure(row.percent_of_roofline);
  if (part === null) return words_cell('num', '');
  const nominal = figure(row.percent_of_nominal);
  return el('td', { class: part > 100 ? 'num over' : 'num', 'data-v': part, title: nominal === null ? null
    : `${nominal.toFixed(0)} % of nominal` },
    el('span', { class: 'track', 'aria-hidden': 'true' },
      el('span', { style: `width:${Math.min(100, Math.max(0, part)).toFixed(0)}%` })), percent_text(part));
}

// On a phone this one cell stays in view and says the whole case.
function shape_cell(model, row) {
  const rest = joined([row.op, row.dtype, ...kIdentity.slice(3).filter((key) => model.varying.has(key))
    .map((key) => part_text(row, key))]);
  const shape = describe(row.shape).split(',')
    .flatMap((part, i) => (i === 0 ? [part] : [',', el('wbr'), part]));
  return el('td', { class: 'case shape' }, describe(row.shape) ? shape : kNone,
    el('span', { class: 'only-narrow' }, rest));
}

function columns(model) {
  const word = (title, key, classes = '', hint = null) =>
    ({ title, hint, classes, cell: (row) => words_cell(classes, describe(row[key])) });
  const number = (title, key, text, classes = 'num', hint = null) =>
    ({ title, hint, classes, cell: (row) => figure_cell(classes, row[key], text) });
  const ulp = (value) => (value < 1000 ? String(Number(value.toPrecision(3))) : significant(value));
  const optional = [['Options', 'options', 'case'], ['Device', 'device', 'case'],
    ['Threads', 'threads', 'case num'], ['Cache', 'cache', 'case'], ['Regime', 'regime', 'case']];
  const has_flags = model.rows.some((row) => list(row.flags).length > 0);
  return [
    word('Operator', 'op', 'case'),
    { title: 'Shape', classes: 'case shape', cell: (row) => shape_cell(model, row) },
    word('Type', 'dtype', 'case', 'dtype of the operands'),
    ...optional.filter(([, key]) => model.varying.has(key))
      .map(([title, key, classes]) => word(title, key, classes)),
    { title: 'Backend', classes: '',
      cell: (row) => el('td', { class: `backend ${series_class(model.series(row.backend))}` }, row.backend) },
    { title: 'Verdict', hint: 'accuracy against the definition in double', classes: '',
      cell: (row) => el('td', null, badge(row)) },
    number('Median µs', 'median_us', significant, 'num strong', 'median time of a call'),
    { title: '± %', hint: 'half of p10..p90, per cent of the median', classes: 'num',
      cell: (row) => figure_cell('num', spread_of(row), percent_text) },
    ...(model.baseline ? [{ title: 'Speed-up', hint: 'times faster than the baseline, with its 95 % interval',
      classes: 'num', cell: (row) => speedup_cell(model, row) }] : []),
    number('GB/s', 'gbps', significant), number('GFLOP/s', 'gflops', significant),
    { title: '% of roofline', hint: 'of the measured limits', classes: 'num', cell: roofline_cell },
    word('Bound', 'bound', '', 'what limits it'),
    { title: 'Slices', hint: 'median of each slice, in round order', classes: '',
      cell: (row) => el('td', null, sparkline(row)) },
    ...(has_flags ? [{ title: 'Flags', hint: 'read these with care', classes: '',
      cell: (row) => el('td', null, list(row.flags)
        .flatMap((flag) => [el('span', { class: 'flag' }, describe(flag)), ' '])) }] : []),
    ...[['Max abs', 'max_abs'], ['Max rel', 'max_rel'], ['Rel L2', 'l2_rel']].map(([title, key]) =>
      number(title, key, error_text, 'num g-accuracy')),
    ...[['ulp p50', 'ulp_p50'], ['ulp p99', 'ulp_p99']].map(([title, key]) => number(title, key, ulp,
      'num g-accuracy')),
    number('Prepare µs', 'prepare_us', significant, 'num g-cost', 'once per weight'),
    number('Workspace', 'workspace_bytes', bytes_text, 'num g-cost'), number('Peak', 'peak_bytes', bytes_text,
      'num g-cost', 'peak memory'),
    { title: 'Kernel', hint: 'kernel, ISA, numerics class', classes: 'g-cost', cell: (row) => {
      const detail = joined([row.isa, row.numerics, row.note].map(describe), ', ');
      return row.kernel || detail ? el('td', { class: 'g-cost' }, describe(row.kernel), ' ',
        el('small', null, detail)) : words_cell('g-cost', '');
    } }];
}

function controls(model) {
  const choice = (title, id, names) => el('label', null, `${title} `,
    el('select', { id }, el('option', { value: '' }, 'all'), names.map((name) => el('option', null, name))));
  const check = (title, id, on) => el('label', { class: 'check' },
    el('input', { type: 'checkbox', id, checked: on ? '' : null }), ` ${title}`);
  return el('form', { class: 'controls', id: 'controls' }, choice('Operator', 'f-op', model.ops),
    choice('Backend', 'f-backend', model.backends),
    choice('Verdict', 'f-verdict', kVerdicts),
      el('label', null, 'Find ', el('input', { id: 'f-text', type: 'search', placeholder: 'm=16, bf16 …' })),
    check('Accuracy', 'c-accuracy', true), check('Kernel and memory', 'c-cost', false),
      el('output', { id: 'shown', 'aria-live': 'polite' }));
}

// Figures sort by data-v, words by their text; what was not taken comes last.
function cell_key(row, column) {
  const cell = row.cells[column];
  if (cell.dataset.v !== undefined) return Number(cell.dataset.v);
  return cell.classList.contains('na') ? null : cell.textContent.trim();
}

function compare(a, b, sign) {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  if (typeof a === 'number' && typeof b === 'number') return sign * (a - b);
  return sign * String(a).localeCompare(String(b), undefined, { numeric: true });
}

// Each click on a heading: ascending, descending, the report's order.
function set_up_sorting(table, rows) {
  const heads = [...table.tHead.rows[0].cells], states = ['ascending', 'descending', 'none'];
  heads.forEach((head, column) => {
    const button = el('button', { type: 'button' }, ...head.childNodes);
    head.append(button);
    button.addEventListener('click', () => {
      const next = states[(states.indexOf(head.getAttribute('aria-sort') || 'none') + 1) % 3],
        order = [...rows];
      heads.forEach((other) => other.removeAttribute('aria-sort'));
      if (next !== 'none') {
        head.setAttribute('aria-sort', next);
        order.sort((a, b) => compare(cell_key(a, column), cell_key(b, column), next === 'ascending' ? 1
          : -1));
      }
      table.classList.toggle('grouped', next === 'none');
      table.tBodies[0].append(...order);
    });
  });
}

function set_up_filters(form, table, rows) {
  const field = (id) => form.querySelector(`#${id}`);
  const update = () => {
    const wanted = ['op', 'backend', 'verdict'].map((key) => [key, field(`f-${key}`).value]);
    const words = field('f-text').value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0, last = null;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !(wanted.every(([key, word]) => !word || row.dataset[key] === word)
        && words.every((word) => text.includes(word)));
      if (row.hidden) continue;
      shown += 1;
      row.classList.toggle('first', row.dataset.case !== last);
      last = row.dataset.case;
    }
    table.classList.toggle('hide-accuracy', !field('c-accuracy').checked);
    table.classList.toggle('hide-cost', !field('c-cost').checked);
    field('shown').textContent = `${shown} of ${rows.length} rows`;
  };
  form.addEventListener('input', update);
  form.addEventListener('submit', (event) => event.preventDefault());
  update();
}

function results_section(model) {
  const title = el('h2', { id: 'h-results' }, 'Results');
  if (model.rows.length === 0) return [title, el('p', { class: 'soft' }, 'The report has no rows.')];
  const all = columns(model), form = controls(model);
  const rows = [...model.cases.values()].flatMap((one, i) =>
    one.rows.map((row) => el('tr', { class: `v-${row.verdict}`,
    'data-op': describe(row.op), 'data-backend': row.backend, 'data-verdict': row.verdict, 'data-case': i },
      all.map((column) => column.cell(row)))));
  const table = el('table', { id: 'table', class: 'results grouped' },
    el('caption', null, 'All rows, one for each case and backend'),
    el('thead', null, el('tr', null,
      all.map((c) => el('th', { scope: 'col', class: c.classes, title: c.hint }, c.title)))),
      el('tbody', null, rows));
  set_up_sorting(table, rows);
  set_up_filters(form, table, rows);
  const box = scroll_box('Results', false, table);
  box.classList.add('tall');
  return [title, el('p', { class: 'soft' }, model.baseline
    ? ['Speed-ups are against ', el('b', null, model.baseline), '. '] : '',
    model.constants ? `All rows: ${model.constants}.` : ''), form, box];
}

function failures_section(model) {
  const title = el('h2', { id: 'h-failures' }, 'Failures and skips');
  const bad = ['fail', 'error', 'skipped'].flatMap((verdict) =>
    model.rows.filter((row) => row.verdict === verdict));
  if (bad.length === 0) return [title, model.rows.length === 0
    ? el('p', { class: 'soft' }, 'No rows, so none.')
    : el('p', null, `None: ${count_text(model.rows.length, 'row', 'rows')} passed.`)];
  const reason = (row) => joined([describe(row.reason) || 'no reason given', row.first_bad_index
    && `first bad index ${describe(row.first_bad_index)}`,
    figure(row.max_abs) !== null && `max abs ${error_text(row.max_abs)}`, figure(row.max_rel) !== null
      && `max rel ${error_text(row.max_rel)}`], '; ');
  return [title, scroll_box('Failures and skips', false, el('table', { class: 'plain' },
    el('thead', null, el('tr', null,
      ['Verdict', 'Backend', 'Case', 'Reason'].map((words) => head_cell(words)))),
    el('tbody', null, bad.map((row) => el('tr', null, el('td', null, badge(row)),
      el('th', { scope: 'row' }, row.backend),
      el('td', null, model.cases.get(row.case).full), el('td', { class: 'wrap' }, reason(row)))))))];
}
